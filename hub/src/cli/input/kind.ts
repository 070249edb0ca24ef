// The kind of a server as shown to users.

/** Interpreters, shown in place of "program". */
const INTERPRETERS = /^(?:node|python|deno|bun|ruby|java|dotnet|php|perl|go|sh|bash)(?=$|[\d.-])/;

/** @example shownKind("binary", "/usr/bin/python3.12") // "python" */
export function shownKind(kind: string, command: string): string {
  if (kind !== "binary") return kind;
  const file = command.split(/[/\\]/).at(-1) ?? "";
  return INTERPRETERS.exec(file.toLowerCase().replace(/\.exe$/, ""))?.[0] ?? "program";
}

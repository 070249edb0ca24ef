// Names of exported files: what they hold and from when, in characters that every file system takes.

export type ExportFormat = "ndjson" | "csv";

export function exportName(
  filter: { readonly server?: string; readonly tool?: string },
  format: ExportFormat,
  now: number,
): string {
  const parts = [
    "calls",
    filter.server,
    filter.tool,
    new Date(now).toISOString().slice(0, 16).replace("T", "-").replace(":", ""),
  ];
  return `${parts
    .filter((part) => part !== undefined)
    .map(safe)
    .join("-")}.${format}`;
}

function safe(part: string): string {
  return part.replaceAll(/[^\w.-]+/gu, "_").slice(0, 60);
}

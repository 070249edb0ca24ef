// Every regular expression of the sources: the literals, found by TypeScript's parser, and those that modules construct when they
// are loaded.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface FoundRegex {
  /** `hub/src/lib/streams/lines.ts /x/g`: does not change when lines move. */
  readonly name: string;
  readonly source: string;
  readonly flags: string;
}

export interface Regexes {
  readonly literals: readonly FoundRegex[];
  /** Files that call the constructor, with the expressions constructed while they were loaded. */
  readonly constructed: ReadonlyMap<string, readonly FoundRegex[]>;
}

export function findRegexes(): Regexes {
  const literals = new Map<string, FoundRegex>();
  const constructing: string[] = [];
  for (const file of sourceFiles()) {
    const parsed = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        const regex = named(file, node.text.slice(1, end), node.text.slice(end + 1));
        literals.set(regex.name, regex);
      }
      const isMade = ts.isNewExpression(node) || ts.isCallExpression(node);
      if (isMade && ts.isIdentifier(node.expression) && node.expression.text === "RegExp") constructing.push(file);
      ts.forEachChild(node, visit);
    };
    visit(parsed);
  }
  const constructed = new Map([...new Set(constructing)].map((file) => [file, constructedBy(file)]));
  return { literals: [...literals.values()], constructed };
}

function sourceFiles(): string[] {
  return ["shared/src", "hub/src", "chat/src"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => `${folder}/${file.replaceAll("\\", "/")}`),
  );
}

/** Loads the compiled module in a separate process, where the constructor is recorded. */
function constructedBy(file: string): FoundRegex[] {
  const compiled = join(ROOT, file.replace("/src/", "/dist/").replace(/\.ts$/, ".js"));
  const program = `
    const Plain = globalThis.RegExp;
    const made = [];
    globalThis.RegExp = new Proxy(Plain, {
      construct(target, given, newTarget) {
        const regex = Reflect.construct(target, given, newTarget);
        if (new Error().stack.includes(${JSON.stringify(relative(ROOT, compiled))})) made.push([regex.source, regex.flags]);
        return regex;
      },
    });
    await import(${JSON.stringify(compiled)});
    process.stdout.write(JSON.stringify(made), () => process.exit(0));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const made: [source: string, flags: string][] = JSON.parse(output);
  return made.map(([source, flags]) => named(file, source, flags));
}

function named(file: string, source: string, flags: string): FoundRegex {
  return { name: `${file} /${source}/${flags}`, source, flags };
}

// The types that a published package brings, in one file each: those of its public entry, with what they refer to, which is exported
// too, and without zod, whose inferred types are written out.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { generateDtsBundle } from "dts-bundle-generator";
import ts from "typescript";

const HUB = fileURLToPath(new URL("..", import.meta.url));
const CHAT = fileURLToPath(new URL("../../chat", import.meta.url));

const ENTRIES = [
  { folder: HUB, entry: "dist/index.d.ts", output: "dist/types/index.d.ts" },
  { folder: CHAT, entry: "dist/cli/cli.d.ts", output: "dist/types/cli.d.ts" },
];

/** Types that come from a schema or from the keys of a table. */
const INFERRED = /\bz\.(?:infer|output)<|^keyof typeof /;
const ZOD = 'import * as z from "zod/mini";\n';

/** Needs what `tsc -b` writes. */
export async function bundleTypes() {
  for (const { folder, entry, output } of ENTRIES) {
    const [bundle = ""] = generateDtsBundle([{ filePath: join(folder, entry), output: { noBanner: true } }], {
      preferredConfigPath: join(folder, "tsconfig.json"),
    });
    const types = withoutUnused(withoutInference(bundle));
    if (/\bz\./.test(types)) throw new Error(`The types of ${entry} still refer to zod`);
    await mkdir(dirname(join(folder, output)), { recursive: true });
    await writeFile(join(folder, output), types);
  }
}

/**
 * Writes out what types are inferred from.
 *
 * @param {string} bundle
 */
function withoutInference(bundle) {
  const { file, checker } = parse(ZOD + bundle);
  const flags = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.MultilineObjectLiterals;
  const printer = ts.createPrinter();
  return edited(file, (statement) => {
    if (!ts.isTypeAliasDeclaration(statement) || !INFERRED.test(statement.type.getText(file))) return;
    const written = checker.typeToTypeNode(checker.getTypeAtLocation(statement.name), statement, flags);
    if (written === undefined) throw new Error(`${statement.name.text} cannot be written out`);
    return { node: statement.type, text: printer.printNode(ts.EmitHint.Unspecified, written, file) };
  }).slice(ZOD.length);
}

/**
 * Removes constants that no type refers to, until there are none.
 *
 * @param {string} bundle
 * @returns {string}
 */
function withoutUnused(bundle) {
  const { file } = parse(bundle);
  const next = edited(file, (statement) => {
    if (!ts.isVariableStatement(statement)) return;
    const names = statement.declarationList.declarations.map(({ name }) => name.getText(file));
    const isUsed = names.some((name) => new RegExp(`typeof ${name}\\b`).test(bundle));
    return isUsed ? undefined : { node: statement, text: "" };
  });
  return next === bundle ? bundle : withoutUnused(next);
}

/** @param {string} text */
function parse(text) {
  const name = join(HUB, "types.d.ts");
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true, types: ["node"] };
  const host = ts.createCompilerHost(options);
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...rest) =>
    path === name ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) : original(path, ...rest);
  const program = ts.createProgram([name], { ...options, exactOptionalPropertyTypes: true }, host);
  const file = program.getSourceFile(name);
  if (file === undefined) throw new Error("The types of the library cannot be read");
  return { file, checker: program.getTypeChecker() };
}

/**
 * @param {ts.SourceFile} file
 * @param {(statement: ts.Statement) => { node: ts.Node, text: string } | undefined} change
 */
function edited(file, change) {
  let text = file.text;
  for (const statement of file.statements.toReversed()) {
    const edit = change(statement);
    if (edit !== undefined) text = text.slice(0, edit.node.getStart(file)) + edit.text + text.slice(edit.node.end);
  }
  return text;
}

if (argv[1] === fileURLToPath(import.meta.url)) await bundleTypes();

// The raw server on stdin and stdout. All messages of one read are answered with one write.

import { splitLines } from "../lines.ts";
import { parseServerArgs, RawServer } from "./server.ts";

const server = new RawServer(parseServerArgs());
const answers: string[] = [];
const read = splitLines((line) => {
  const answer = server.answer(JSON.parse(line.toString()));
  if (answer !== undefined) answers.push(answer);
});

process.stdin.on("data", (piece: Buffer) => {
  read(piece);
  if (answers.length > 0) process.stdout.write(`${answers.join("\n")}\n`);
  answers.length = 0;
});
process.stdin.on("end", () => process.exit(0));

// Records the commands of docs/tour.md on a real terminal (Python's pty), as docs/images/tour.cast for `asciinema play`, and draws the
// recording as docs/images/tour.svg. Run by `npm run screenshots`, with a built hub.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { toSvg } from "./cast-svg.mjs";
import { Terminal } from "./terminal.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const COLUMNS = 100;
const HEIGHT = 26;
/** Longer waits of a command are shortened to this. */
const IDLE_S = 1.2;
const TYPING_S = 0.5;
const READING_S = 1.6;
const REST_S = 6;

const PTY = `
import os, pty, sys, fcntl, struct, termios
pid, fd = pty.fork()
if pid == 0: os.execvp("sh", ["sh", "-c", sys.argv[2]])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
while True:
    try: text = os.read(fd, 65536)
    except OSError: break
    if not text: break
    os.write(1, text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

const home = await realpath(await mkdtemp(join(tmpdir(), "plugboard-tour-")));
const port = await freePort();
const events = [];
let clock = 0;
try {
  // npx finds the packages of the examples without a registry.
  await symlink(join(root, "node_modules"), join(home, "node_modules"));
  for (const command of await commands()) await record(command);
} finally {
  await run("plugboard stop", () => undefined).catch(() => undefined);
  await rm(home, { recursive: true, force: true });
}
await save();

/** The commands of the page, in order. */
async function commands() {
  const page = await readFile(join(root, "docs/tour.md"), "utf8");
  return [...page.matchAll(/^```console\n([^]*?)^```/gm)].flatMap(([, text]) =>
    text.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : [])),
  );
}

async function record(command) {
  show("\u001b[32m$ \u001b[0m");
  for (const part of halves(command)) {
    clock += TYPING_S / 2;
    show(part);
  }
  clock += 0.2;
  show("\r\n");
  let before = performance.now();
  const code = await run(command, (text) => {
    const now = performance.now();
    clock += Math.min((now - before) / 1000, IDLE_S);
    before = now;
    show(shown(text));
  });
  if (code !== 0) throw new Error(`${command} ended with exit code ${code}`);
  clock += READING_S;
}

function halves(text) {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The pictures have the default port, and a made-up token. */
function shown(text) {
  return text
    .replaceAll(`127.0.0.1:${port}`, "127.0.0.1:7430")
    .replaceAll(/(#k=\w{4})[\w-]+/g, "$1…")
    .replaceAll(/(pbt_\w{4})[\w-]+/g, "$1…")
    .replaceAll(home, "~");
}

function show(text) {
  events.push([Number(clock.toFixed(3)), text]);
}

async function run(command, onText) {
  const started = command.replace(/\bplugboard start$/, `plugboard start --port ${port}`);
  const child = spawn("python3", ["-c", PTY, String(COLUMNS), started], {
    cwd: home,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
      HOME: home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      PLUGBOARD_NPM: "npx",
      npm_config_update_notifier: "false",
    },
  });
  child.stdout.setEncoding("utf8").on("data", onText);
  const [code] = await once(child, "close");
  return code;
}

async function save() {
  const header = { version: 2, width: COLUMNS, height: HEIGHT, title: "Plugboard: five minutes" };
  const lines = [header, ...events.map(([at, text]) => [at, "o", text])];
  await writeFile(join(here, "tour.cast"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const terminal = new Terminal({ columns: COLUMNS });
  const frames = [];
  for (const [at, text] of events) {
    terminal.write(text);
    const rows = terminal.screen(HEIGHT);
    // What changes faster than the eye is one frame.
    if (frames.length > 0 && at - frames.at(-1).at < 0.12) frames.at(-1).rows = rows;
    else frames.push({ at, rows });
  }
  const options = { columns: COLUMNS, height: HEIGHT, rest: REST_S, title: header.title };
  await writeFile(join(here, "tour.svg"), toSvg(frames, options));
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address();
  server.close();
  await once(server, "close");
  return free;
}

// Notices a process that was started to speak over its pipes and serves HTTP instead: it says where it listens, and then
// nothing more comes. What it prints to stdout besides messages is kept for the explanation.

/** Long enough for a server that opens a port besides, for a login say, and then answers over its pipes. */
const SILENT_MS = 15_000;
const MAX_LINES = 50;
const MAX_LINE_CHARS = 500;
const WORDS = /\b(?:listening|running|started|serving|available|ready|uvicorn|server)\b/i;
const ADDRESS = /https?:\/\/[^\s"'<>()]{1,200}|\bport:? \d{2,5}\b/i;

export interface TransportWatchOptions {
  /** It listens there, and has said nothing over its pipes since. */
  readonly onElsewhere: (address: string) => void;
  readonly silentMs?: number;
}

export class TransportWatch {
  readonly #options: TransportWatchOptions;
  readonly #printed: string[] = [];
  readonly #decoder = new TextDecoder();
  #rest = "";
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: TransportWatchOptions) {
    this.#options = options;
  }

  /** What it printed to stdout that is no message, oldest first. */
  get printed(): string {
    return this.#printed.join("\n");
  }

  /** A line of stdout. */
  line(bytes: Buffer): void {
    if (this.#isOver || isMessage(bytes)) return;
    const text = bytes.toString("utf8", 0, MAX_LINE_CHARS);
    if (this.#printed.length < MAX_LINES) this.#printed.push(text);
    this.#look(text);
  }

  /** A part of stderr. */
  stderr(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop()?.slice(0, MAX_LINE_CHARS) ?? "";
    for (const line of lines) this.#look(line.slice(0, MAX_LINE_CHARS));
  }

  /** It answered, or is gone. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #look(line: string): void {
    if (this.#timer !== undefined || !WORDS.test(line)) return;
    const address = ADDRESS.exec(line)?.[0];
    if (address === undefined) return;
    const { onElsewhere, silentMs = SILENT_MS } = this.#options;
    this.#timer = setTimeout(() => onElsewhere(address), silentMs).unref();
  }
}

function isMessage(bytes: Buffer): boolean {
  const [first] = bytes;
  return first === 0x7b || first === 0x5b; // { [
}

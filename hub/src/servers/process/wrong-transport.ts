// Detects a process that serves HTTP instead of stdio: it prints its address and then nothing more. Other output on stdout is
// kept for the error.

/** Long enough for a server that also opens a port, such as for a login, and then answers over stdio. */
const SILENT_MS = 15_000;
const MAX_LINES = 50;
const MAX_LINE_CHARS = 500;
const WORDS = /\b(?:listening|running|started|serving|available|ready|uvicorn|server)\b/i;
const ADDRESS = /https?:\/\/[^\s"'<>()]{1,200}|\bport:? \d{2,5}\b/i;

export interface TransportWatchOptions {
  /** It listens at the address and was silent on stdio since. */
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

  /** Lines of stdout that are not messages, oldest first. */
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

  /** A chunk of stderr. */
  stderr(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop()?.slice(0, MAX_LINE_CHARS) ?? "";
    for (const line of lines) this.#look(line.slice(0, MAX_LINE_CHARS));
  }

  /** It answered or has exited. */
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

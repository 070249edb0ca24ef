// Formats metrics as Prometheus text.

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** Seconds, as OpenTelemetry recommends for MCP. */
const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;

export function metric(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): string {
  return family(
    name,
    type,
    help,
    samples.map(([labels, value]) => line(name, labels, value)),
  );
}

/** A histogram of durations. */
export class Histogram {
  /** One more than bounds, for +Inf. */
  readonly #counts = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  #sumSeconds = 0;

  record(ms: number): void {
    const seconds = ms / 1000;
    const found = BOUNDS.findIndex((bound) => seconds <= bound);
    const index = found < 0 ? BOUNDS.length : found;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Empty without calls. */
  lines(name: string, labels: Labels): string[] {
    const { count } = this;
    if (count === 0) return [];
    let sum = 0;
    const buckets = BOUNDS.map((bound, index) => {
      sum += this.#counts[index] ?? 0;
      return line(`${name}_bucket`, { ...labels, le: String(bound) }, sum);
    });
    return [
      ...buckets,
      line(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
      line(`${name}_sum`, labels, this.#sumSeconds),
      line(`${name}_count`, labels, count),
    ];
  }
}

/** `lines` of histograms, with their HELP and TYPE. */
export function histograms(name: string, help: string, lines: readonly string[]): string {
  return family(name, "histogram", help, lines);
}

function family(name: string, type: string, help: string, lines: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
}

function line(name: string, labels: Labels, value: number): string {
  const shown = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${shown.length === 0 ? "" : `{${shown.join(",")}}`} ${value}`;
}

/** Escapes a label value. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

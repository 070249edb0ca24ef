// Finds the step for a message. Messages are counted over all starts, so that "the first call" occurs once.

const ANSWER = { do: "answer" };
/** These steps refuse a call before any work is done: it counts as received, but not as run. */
const REFUSALS = new Set(["status", "forget"]);

export class Script {
  #steps;
  #spy;
  #start;
  /** The number of messages so far, by step. */
  #met = new Map();

  constructor(steps, { spy, start }) {
    this.#steps = steps;
    this.#spy = spy;
    this.#start = start;
    for (const step of steps)
      this.#met.set(
        step,
        spy.count("heard", (event) => concerns(step, event)),
      );
  }

  /** The step for a message. Records the message, and whether its tool ran. */
  next({ method, params }) {
    const event = { method, ...(method === "tools/call" ? { tool: params.name, id: params.arguments?.id } : {}) };
    this.#spy.write("heard", event);
    const step = this.#find(event);
    if (method === "tools/call" && (!REFUSALS.has(step.do) || step.ran === true)) this.#spy.write("ran", event);
    return step;
  }

  #find(event) {
    let found;
    for (const step of this.#steps) {
      if (!concerns(step, event)) continue;
      const nth = this.#met.get(step) + 1;
      this.#met.set(step, nth);
      if (this.#isDue(step, nth)) found ??= step;
    }
    return found ?? ANSWER;
  }

  #isDue({ nth, first, start }, met) {
    if (start !== undefined && start !== this.#start) return false;
    return nth === undefined ? met <= (first ?? Infinity) : met === nth;
  }
}

/** Default: calls. */
function concerns({ on = "tools/call", tool }, event) {
  return event.method === on && (tool === undefined || event.tool === tool);
}

// The arguments of a tool while a person enters them, in a form or as JSON, and what does not fit the schema.

import { missingMembers, hasSecret, initialValue } from "../../lib/schema/values.ts";
import { background } from "../../lib/background/background.ts";
import { isObject, JsonSyntaxError, parseJson, toJsonText, type JsonObject } from "../../lib/text/json.ts";
import { schemaText } from "../../text/schema.ts";

export class ToolArguments {
  schema: JsonObject = $state.raw({});
  value: JsonObject = $state.raw({});
  isJson = $state(false);
  jsonText = $state("");
  jsonProblem: string | undefined = $state();
  /** Text by the place in the arguments, as a JSON pointer. */
  issues: ReadonlyMap<string, string> = $state.raw(new Map());
  /** The schema cannot be checked: the server will. */
  isUnchecked = $state(false);
  /** Fields whose text is no value at all. */
  #broken: ReadonlySet<string> = $state.raw(new Set());
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** There is no value to send. */
  readonly isBroken = $derived(this.jsonProblem !== undefined || this.#broken.size > 0);
  readonly isSecret = $derived(hasSecret(this.schema, this.value, this.schema));

  /** Begins with the defaults of the schema, or with the arguments of a link. */
  start(schema: JsonObject, given: string | undefined): void {
    this.schema = schema;
    const initial = initialValue(schema, schema);
    this.value = isObject(initial) ? initial : {};
    if (given === undefined) return;
    try {
      const parsed = parseJson(given);
      if (isObject(parsed)) this.value = parsed;
    } catch {
      // A link that was cut: the form begins empty.
    }
  }

  change(next: JsonObject): void {
    this.value = next;
    // Only what was already marked is looked at again while typing.
    if (this.issues.size > 0) void this.check();
    this.#onChange();
  }

  report(pointer: string, text: string | undefined): void {
    const next = new Set(this.#broken);
    if (text === undefined) next.delete(pointer);
    else next.add(pointer);
    if (next.size !== this.#broken.size) this.#broken = next;
  }

  async check(): Promise<void> {
    const { schema, value } = this;
    const found = await background.validate(schema, value);
    if (value !== this.value) return;
    this.isUnchecked = found === undefined;
    const next = new Map(found?.map(({ pointer, message }) => [pointer, message]));
    next.delete("");
    for (const pointer of missingMembers(schema, value, schema)) next.set(pointer, schemaText.isRequired);
    this.issues = next;
  }

  /** After a field is left: its own problem, if it has one, and not those of fields that were not reached yet. */
  async leave(pointer: string): Promise<void> {
    const before = this.issues;
    await this.check();
    const reached = [...this.issues].filter(
      ([at, message]) => at === pointer || before.has(at) || message !== schemaText.isRequired,
    );
    this.issues = new Map(reached);
  }

  showAs(json: boolean): void {
    if (json) this.jsonText = toJsonText(this.value, 2);
    this.isJson = json;
    this.jsonProblem = undefined;
    this.#broken = new Set();
  }

  typedJson(): void {
    try {
      const parsed = parseJson(this.jsonText.trim() === "" ? "{}" : this.jsonText);
      if (!isObject(parsed)) throw new JsonSyntaxError(schemaText.issues.type("an object"), 0);
      this.jsonProblem = undefined;
      this.change(parsed);
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      const lines = this.jsonText.slice(0, error.at).split("\n");
      this.jsonProblem = schemaText.notJson(error.message, lines.length, (lines.at(-1)?.length ?? 0) + 1);
    }
  }
}

// What the fields of one form share.

import type { Component } from "svelte";
import type { Json } from "../text/json.ts";

/** One member of a form, of any kind. */
export interface MemberProps {
  readonly schema: Json;
  readonly form: FormState;
  readonly value: Json | undefined;
  readonly change: (value: Json | undefined) => void;
  readonly name: string;
  readonly pointer: string;
  readonly depth: number;
  readonly isRequired: boolean;
  /** The name is read but not seen: an item of a list. */
  readonly hideName?: boolean;
}

export interface FormState {
  /** The whole schema, for references. */
  readonly root: Json;
  /** How a member is shown. Objects and lists have it from here, since they are shown by it themselves. */
  readonly Member: Component<MemberProps>;
  /** What is wrong, by the place of the value. */
  readonly issues: ReadonlyMap<string, string>;
  /** A field whose text is no value (yet) reports it; undefined when it is one again. */
  readonly report: (pointer: string, problem: string | undefined) => void;
  /** After a field has lost the focus. */
  readonly leave: (pointer: string) => void;
}

/** The properties of every kind of field. */
export interface FieldProps<F> {
  readonly field: F;
  readonly form: FormState;
  readonly value: Json | undefined;
  /** Undefined takes the member out. */
  readonly change: (value: Json | undefined) => void;
  readonly name: string;
  readonly pointer: string;
  readonly depth: number;
  readonly isRequired: boolean;
  readonly id: string;
  readonly describedby: string | undefined;
}

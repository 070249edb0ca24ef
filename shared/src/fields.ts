// Compile-time checks for code that copies an object field by field: a new field that the copy forgets does not compile.

/**
 * Accepts only an empty rest.
 *
 * @example
 * const { name, servers, ...rest } = group;
 * noFieldsLeft(rest); // does not compile if the group has another field
 */
export function noFieldsLeft(_rest: Readonly<Record<string, never>>): void {}

/** All fields of T; optional ones may be undefined, but have to be named. */
export type AllFields<T> = { readonly [K in keyof T]-?: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** An object of all fields of T, without those that are undefined. */
export function fromFields<T extends object>(fields: AllFields<T>): T {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- only fields that T declares optional can be undefined
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

// Counts the work of a parser: every byte that it reads or copies, so that a bound does not depend on the machine.

export interface Counted {
  readonly bytes: Buffer;
  readonly steps: () => number;
}

export function counted(bytes: Buffer): Counted {
  let steps = 0;
  const methods: Readonly<Record<string, (...args: never[]) => unknown>> = {
    indexOf: (value: number | Buffer, from = 0) => {
      const found = bytes.indexOf(value, from);
      steps += (found < 0 ? bytes.length : found) - from + 1;
      return found;
    },
    includes: (value: number) => {
      steps += bytes.length;
      return bytes.includes(value);
    },
    toString: (encoding?: BufferEncoding, start = 0, end = bytes.length) => {
      steps += Math.max(0, end - start);
      return bytes.toString(encoding, start, end);
    },
    subarray: (start?: number, end?: number) => bytes.subarray(start, end),
  };
  const proxy = new Proxy(bytes, {
    get: (target, key) => {
      if (typeof key === "string" && Object.hasOwn(methods, key)) return methods[key];
      if (key === "length") return target.length;
      if (typeof key !== "string" || !/^-?\d+$/.test(key)) throw new Error(`Not counted: ${String(key)}`);
      steps++;
      return target[Number(key)];
    },
  });
  return { bytes: proxy, steps: () => steps };
}

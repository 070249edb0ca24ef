// Generated chats in the formats of many languages are parsed back unchanged.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { dayPeriodOf, hourOf } from "./day-period.ts";
import { parseHeader } from "./header.ts";
import { whatsappImporter } from "./importer.ts";
import { fromSolarHijri } from "./solar-hijri.ts";
import { scaled } from "../../../../test/support/scale.ts";

interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const pad = (value: number) => String(value).padStart(2, "0");
const twelve = (hour: number) => (hour % 12 === 0 ? 12 : hour % 12);
const half = (hour: number, am: string, pm: string) => (hour < 12 ? am : pm);
const inDigits = (text: string, zero: number) =>
  text.replaceAll(/\d/g, (digit) => String.fromCharCode(zero + Number(digit)));

/** The beginning of a line, up to the sender. */
const LOCALES: Readonly<Record<string, (wall: Wall) => string>> = {
  "en-US": ({ year, month, day, hour, minute }) =>
    `${month}/${day}/${year % 100}, ${twelve(hour)}:${pad(minute)}\u202f${half(hour, "AM", "PM")} - `,
  "en-GB iOS": ({ year, month, day, hour, minute }) =>
    `[${pad(day)}/${pad(month)}/${year}, ${pad(hour)}:${pad(minute)}:00] `,
  de: ({ year, month, day, hour, minute }) => `${pad(day)}.${pad(month)}.${year % 100}, ${pad(hour)}:${pad(minute)} - `,
  bg: ({ year, month, day, hour, minute }) => `${day}.${pad(month)}.${year % 100} г., ${hour}:${pad(minute)} ч. - `,
  vi: ({ year, month, day, hour, minute }) => `${pad(hour)}:${pad(minute)}, ${pad(day)}/${pad(month)}/${year} - `,
  fa: ({ year, month, day, hour, minute }) => {
    const date = new Intl.DateTimeFormat("en-u-ca-persian", { dateStyle: "short", timeZone: "UTC" });
    const parts = date.formatToParts(Date.UTC(year, month - 1, day));
    const [y, m, d] = ["year", "month", "day"].map((type) => parts.find((part) => part.type === type)?.value ?? "");
    return inDigits(`${y}/${m}/${d}،\u200f ${pad(hour)}:${pad(minute)} - `, 0x6f0);
  },
  fi: ({ year, month, day, hour, minute }) => `${day}.${month}.${year} klo ${hour}.${pad(minute)} - `,
  nl: ({ year, month, day, hour, minute }) => `${pad(day)}-${pad(month)}-${year} ${pad(hour)}:${pad(minute)} - `,
  es: ({ year, month, day, hour, minute }) =>
    `${day}/${month}/${year}, ${twelve(hour)}:${pad(minute)}\u00a0${half(hour, "a.\u00a0m.", "p.\u00a0m.")} - `,
  hu: ({ year, month, day, hour, minute }) => `${year}. ${pad(month)}. ${pad(day)}. ${hour}:${pad(minute)} - `,
  sv: ({ year, month, day, hour, minute }) => `${year}-${pad(month)}-${pad(day)}, ${pad(hour)}:${pad(minute)} - `,
  "zh-TW": ({ year, month, day, hour, minute }) =>
    `${year}/${month}/${day} ${half(hour, "上午", "下午")}${twelve(hour)}:${pad(minute)} - `,
  "zh-TW iOS": ({ year, month, day, hour, minute }) =>
    `[${year}/${month}/${day} ${half(hour, "上午", "下午")}${twelve(hour)}:${pad(minute)}:00] `,
  ja: ({ year, month, day, hour, minute }) => `${year}/${pad(month)}/${pad(day)} ${hour}:${pad(minute)} - `,
  ko: ({ year, month, day, hour, minute }) =>
    `${year}. ${month}. ${day}. ${half(hour, "오전", "오후")} ${twelve(hour)}:${pad(minute)} - `,
  ar: ({ year, month, day, hour, minute }) =>
    inDigits(`${day}\u200f/${month}\u200f/${year}، ${twelve(hour)}:${pad(minute)} ${half(hour, "ص", "م")} - `, 0x660),
  hi: ({ year, month, day, hour, minute }) =>
    inDigits(`${pad(day)}/${pad(month)}/${year}, ${twelve(hour)}:${pad(minute)} ${half(hour, "am", "pm")} - `, 0x966),
};

const NAMES = ["Ann", "Bob Smith", "+358 40 123456", "小明", "أحمد", "Zoë 🎉"];

const SOME_TIME = { year: 2024, month: 2, day: 26, hour: 14, minute: 5 };

/** Quoted headers in the format of another phone. */
function quotedHeads(locale: string): readonly string[] {
  const styleOf = (name: string) => parseHeader(`${LOCALES[name]?.(SOME_TIME) ?? ""}Eve: quoted`)?.style;
  const others = Object.keys(LOCALES).filter((other) => styleOf(other) !== styleOf(locale));
  return others.map((other) => `${LOCALES[other]?.(SOME_TIME) ?? ""}Eve: quoted`);
}

/** Text that resembles headers, but not in the file's own format, which would be indistinguishable. */
const lineIn = (locale: string) =>
  fc.oneof(
    fc.constantFrom(...quotedHeads(locale)),
    { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
    {
      weight: 2,
      arbitrary: fc.string({
        unit: fc.constantFrom("\u200e", "\u200f", ":", " ", "a", "ש", "👩‍👧", "7", "/", "."),
        maxLength: 12,
      }),
    },
    fc.constantFrom(
      "note: see this: now",
      "Ann: I said so",
      "01|02|2024 10:00 - Ann: quoted",
      "yesterday, 10:00 - Bob: quoted",
      "١٢ رسالة",
      "10:30: lunch",
      "3 items, 5 people",
      "",
    ),
  );
const textIn = (locale: string) =>
  fc
    .array(lineIn(locale), { minLength: 1, maxLength: 4 })
    .map((lines) => lines.join("\n").replaceAll(/[\r\ufeff]|\0/g, ""))
    // Marks distinguish system text from typed text; messages are never empty.
    .filter((whole) => /^[^\u200e\s]/u.test(whole) && !/[\u200e<]/u.test(whole.split("\n")[0] ?? ""));

const chatIn = (locale: string) =>
  fc.array(
    fc.record({
      minutes: fc.integer({ min: 0, max: 3000 }),
      sender: fc.constantFrom(...NAMES),
      text: textIn(locale),
    }),
    { minLength: 1, maxLength: 30 },
  );

interface Message {
  readonly wall: Wall;
  readonly sender: string;
  readonly text: string;
}

/** Begins at a date that distinguishes day and month. */
function dated(messages: readonly { minutes: number; sender: string; text: string }[]): readonly Message[] {
  let at = Date.UTC(2024, 0, 25, 11, 50);
  return messages.map(({ minutes, sender, text: content }) => {
    at += minutes * 60_000;
    const date = new Date(at);
    const wall = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
    };
    return { wall, sender, text: content };
  });
}

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const RUNS = scaled(40, 2000);

describe("CH-12 a written chat is read back unchanged", () => {
  it.each(Object.keys(LOCALES))("%s", async (locale) => {
    const head = LOCALES[locale] ?? (() => "");
    await fc.assert(
      fc.asyncProperty(chatIn(locale), async (generated) => {
        const messages = dated(generated);
        // One in each half of the day, and one for each name, as the statistics need.
        const known = NAMES.map((sender) => ({
          wall: { year: 2024, month: 1, day: 25, hour: 11, minute: 49 },
          sender,
          text: "hi",
        }));
        const all = [...known, ...messages];
        const content = all.map(({ wall, sender, text: body }) => `${head(wall)}${sender}: ${body}`).join("\n");
        const path = await folder.file("WhatsApp Chat with Team.txt", `${content}\n`);
        const found = await importFile(whatsappImporter, path);
        expect(found.messages.map(({ at, sender, content: body }) => [at, sender, body])).toEqual(
          all.map(({ wall, sender, text: body }) => [
            Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute),
            sender,
            body,
          ]),
        );
        expect(new Set(found.messages.map(({ id }) => id)).size).toBe(all.length);
      }),
      { numRuns: RUNS },
    );
  });
});

it("day periods match those of CLDR", () => {
  for (const locale of "hi mr bn gu te kn ta ml pa ur vi id ms zh-CN zh-TW".split(" ")) {
    const format = new Intl.DateTimeFormat(locale, {
      hour: "numeric",
      dayPeriod: "short",
      hour12: true,
      timeZone: "UTC",
    });
    for (let hour = 0; hour < 24; hour++) {
      const parts = format.formatToParts(Date.UTC(2024, 2, 1, hour));
      const word = parts.find(({ type }) => type === "dayPeriod")?.value ?? "";
      expect([locale, word, hourOf(twelve(hour), dayPeriodOf(word))]).toEqual([locale, word, hour]);
    }
  }
});

it("every date of the Solar Hijri calendar converts correctly", () => {
  const format = new Intl.DateTimeFormat("en-u-ca-persian", {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    timeZone: "UTC",
  });
  let days = 0;
  for (let at = Date.UTC(2009, 0, 1); at < Date.UTC(2050, 0, 1); at += 86_400_000) {
    const parts = format.formatToParts(at);
    const [year, month, day] = ["year", "month", "day"].map((name) =>
      Number(parts.find(({ type }) => type === name)?.value),
    );
    const date = new Date(at);
    const expected = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
    const found = fromSolarHijri({ year: year ?? 0, month: month ?? 0, day: day ?? 0 });
    if (JSON.stringify(found) !== JSON.stringify(expected)) expect({ at: date.toISOString(), found }).toEqual(expected);
    days++;
  }
  expect(days).toBeGreaterThan(14_000);
  expect(fromSolarHijri({ year: 1404, month: 12, day: 30 })).toBeUndefined();
  expect(fromSolarHijri({ year: 1403, month: 7, day: 31 })).toBeUndefined();
});

it("AM and PM words match those of CLDR", () => {
  const locales = "en-US en-GB es es-MX fr-CA sv fi cs hu tr el uk sq ar fa si vi ms ja ko zh-CN zh-TW am af lv lt";
  for (const locale of locales.split(" ")) {
    const format = new Intl.DateTimeFormat(locale, {
      hour: "numeric",
      minute: "2-digit",
      hour12: true,
      timeZone: "UTC",
    });
    const word = (hour: number) =>
      format.formatToParts(Date.UTC(2024, 2, 1, hour, 5)).find(({ type }) => type === "dayPeriod")?.value ?? "";
    expect([locale, dayPeriodOf(word(3)), dayPeriodOf(word(15))]).toEqual([locale, "am", "pm"]);
  }
});

// Searches in many scripts, with the real index, because its tokenizer decides.

import { describe, expect, it } from "vitest";
import { message } from "../../../../test/support/chat/events.ts";
import type { SearchMode } from "../../model/store-port.ts";
import { toSearchText } from "./search-text.ts";
import { openStore } from "../store.ts";

const FOUND: readonly (readonly [name: string, text: string, searches: readonly string[]])[] = [
  ["Latin", "Crème brûlée in Łódź", ["creme", "BRULEE", "brûlée", "łódź"]],
  ["combining accents", "cafe\u0301", ["café", "cafe"]],
  ["apostrophes and dashes", "don't e-mail the C++ team", ["don't", "e-mail", "don", "mail"]],
  ["Cyrillic", "Встреча в пятницу", ["встреча", "ПЯТНИЦУ"]],
  ["Greek", "Καλημέρα κόσμε", ["καλημερα", "ΚΌΣΜΕ"]],
  ["Han", "明天下午三点开会议", ["会议", "开会", "明天", "会", "三点开会", "会议 明天"]],
  ["Han beside Latin", "我们用iPhone拍照", ["iphone", "拍照", "用iPhone拍"]],
  ["Japanese", "東京タワーへ行きましょう", ["東京", "タワー", "行き", "ﾀﾜｰ"]],
  ["Hangul", "내일 회의는 세시에", ["회의", "회의는", "내일"]],
  ["Thai", "พรุ่งนี้เจอกันที่ร้านกาแฟ", ["กาแฟ", "ร้าน", "พรุ่งนี้"]],
  ["Khmer", "សួស្តីពិភពលោក", ["ពិភព"]],
  ["Arabic", "اجتماع الفريق مُحَمَّد", ["اجتماع", "محمد", "مُحَمَّد"]],
  ["Persian", "می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]],
  ["Hebrew", "שָׁלוֹם עולם", ["שלום", "עולם"]],
  ["Hindi", "नमस्ते दुनिया", ["नमस्ते", "दुनिया"]],
  ["full-width", "ＡＢＣ１２３", ["abc123"]],
  ["emoji", "party🎉tonight ❤️ 👍🏽", ["🎉", "party", "tonight", "❤", "❤️", "👍", "👍🏽"]],
  ["emoji sequences and flags", "👨‍👩‍👧 went to 🇫🇮", ["👨‍👩‍👧", "👩", "🇫🇮"]],
  ["signs at words", "Acme™ 2024©", ["acme", "2024"]],
  ["numbers", "order 12345, room 7", ["12345", "7"]],
];

const MISSED: readonly (readonly [name: string, text: string, searches: readonly string[]])[] = [
  ["order of Han characters", "会议", ["议会", "会员"]],
  ["parts of words", "meeting", ["meet", "eting"]],
  ["one emoji for another", "🎉", ["🎊", "u1f389", "1f389"]],
  ["flags by halves", "🇫🇮", ["🇫🇷", "🇮🇫"]],
];

describe("search", () => {
  it.each(FOUND)("CH-5 finds in %s", async (_, text, searches) => {
    expect(await search(text, searches)).toEqual(searches);
  });

  it.each(FOUND)("CH-5 finds parts of words in %s", async (_, text, searches) => {
    expect(await search(text, searches, "contains")).toEqual(searches);
  });

  it.each(MISSED)("CH-5 does not confuse %s", async (_, text, searches) => {
    expect(await search(text, searches)).toEqual([]);
  });

  it("CH-5 ASCII text is indexed unchanged", () => {
    expect(toSearchText("Hello, world\n\t(1)")).toBe("Hello, world\n\t(1)");
  });
});

async function search(content: string, searches: readonly string[], mode?: SearchMode): Promise<readonly string[]> {
  const store = await openStore(":memory:");
  store.apply("s", [message({ id: "other", content: "something else" }), message({ id: "it", content, at: 2 })]);
  const found = searches.filter((text) => {
    const { items } = store.messages({
      order: "desc",
      limit: 5,
      includeSystem: false,
      search: text,
      mode: mode ?? "words",
    });
    return items.length === 1 && items[0]?.id === "it";
  });
  await store.close();
  return found;
}

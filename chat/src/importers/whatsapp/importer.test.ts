import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../../test/support/chat/zip.ts";
import { whatsappImporter } from "./importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

async function read(lines: readonly string[], options = {}, name = "WhatsApp Chat with Ann.txt") {
  return importFile(whatsappImporter, await folder.file(name, lines.join("\n")), options);
}

const when = (at: number) => new Date(at).toISOString().slice(0, 19).replace("T", " ");

describe("CH-12 date and time notations of many languages", () => {
  /** Times in UTC. If several lines determine the order of day and month, the first one is checked. */
  it.each<[string, string[], string, string, string]>([
    ["zh-TW, Android", ["2024/3/1 下午3:05 - 小明: 你好"], "2024-03-01 15:05:00", "小明", "你好"],
    ["zh-TW, iOS", ["[2024/3/1 下午3:05:09] 小明: 你好"], "2024-03-01 15:05:09", "小明", "你好"],
    ["zh, morning", ["2024/3/1 上午12:05 - 小明: 你好"], "2024-03-01 00:05:00", "小明", "你好"],
    ["zh, noon", ["2024/3/1 中午12:05 - 小明: 你好"], "2024-03-01 12:05:00", "小明", "你好"],
    ["zh-CN, in words", ["2024年3月1日 15:05 - 小明: 你好"], "2024-03-01 15:05:00", "小明", "你好"],
    ["ja", ["2024/03/01 15:05 - 花子: やあ"], "2024-03-01 15:05:00", "花子", "やあ"],
    ["ja, iOS 12 h", ["[2024/03/01 午後3:05:09] 花子: やあ"], "2024-03-01 15:05:09", "花子", "やあ"],
    ["ko, Android", ["2024. 3. 1. 오후 3:05 - 민수: 안녕"], "2024-03-01 15:05:00", "민수", "안녕"],
    ["ko, comma", ["2024. 3. 1. 오후 3:05, 민수 : 안녕"], "2024-03-01 15:05:00", "민수", "안녕"],
    ["ko, iOS", ["[2024. 3. 1. 오전 9:05:09] 민수: 안녕"], "2024-03-01 09:05:09", "민수", "안녕"],
    ["ISO", ["2024-03-01, 15:05 - Ann: hi"], "2024-03-01 15:05:00", "Ann", "hi"],
    ["hu", ["2024. 03. 01. 15:05 - Anna: szia"], "2024-03-01 15:05:00", "Anna", "szia"],
    ["ar, digits and marks", ["١‏/٣‏/٢٠٢٤، ٣:٠٥ م - أحمد: مرحبا"], "2024-03-01 15:05:00", "أحمد", "مرحبا"],
    ["ar, iOS", ["‏[١‏/٣‏/٢٠٢٤، ٣:٠٥:٠٩ ص] أحمد: مرحبا"], "2024-03-01 03:05:09", "أحمد", "مرحبا"],
    ["fa, digits", ["۲۰۲۴/۳/۱،‏ ۱۵:۰۵ - علی: سلام"], "2024-03-01 15:05:00", "علی", "سلام"],
    ["hi, digits", ["०१/०३/२०२४, ३:०५ pm - राम: नमस्ते"], "2024-03-01 15:05:00", "राम", "नमस्ते"],
    ["fi", ["1.3.2024 klo 15.05 - Antti: moi"], "2024-03-01 15:05:00", "Antti", "moi"],
    ["nl", ["01-03-2024 15:05 - Jan: hoi"], "2024-03-01 15:05:00", "Jan", "hoi"],
    ["es, 12 h", ["1/3/2024, 8:28\u00a0p.\u00a0m. - Eva: hola"], "2024-03-01 20:28:00", "Eva", "hola"],
    ["de", ["01.03.24, 15:05 - Uwe: hallo"], "2024-03-01 15:05:00", "Uwe", "hallo"],
    ["de, iOS", ["[01.03.24, 15:05:09] Uwe: hallo"], "2024-03-01 15:05:09", "Uwe", "hallo"],
    ["fr", ["01/03/2024 à 15:05 - Léa: salut"], "2024-03-01 15:05:00", "Léa", "salut"],
    ["fr, iOS", ["[01/03/2024, 15:05:09] Léa : salut"], "2024-03-01 15:05:09", "Léa", "salut"],
    ["fr-CA", ["2024-03-01 15 h 05 - Léa: salut"], "2024-03-01 15:05:00", "Léa", "salut"],
    ["bg", ["1.03.24 г., 15:05 - Иван: здрасти"], "2024-03-01 15:05:00", "Иван", "здрасти"],
    [
      "bg, with a word for the hour",
      ["31.12.24 г., 21:05 ч. - Иван: здрасти"],
      "2024-12-31 21:05:00",
      "Иван",
      "здрасти",
    ],
    ["bg, iOS", ["[31.12.24 г., 21:05:09 ч.] Иван: здрасти"], "2024-12-31 21:05:09", "Иван", "здрасти"],
    ["hi, evening", ["31/12/24, रात 9:05 बजे - राम: नमस्ते"], "2024-12-31 21:05:00", "राम", "नमस्ते"],
    ["hi, after midnight", ["31/12/24, रात 12:05 बजे - राम: नमस्ते"], "2024-12-31 00:05:00", "राम", "नमस्ते"],
    ["hi, afternoon", ["31/12/24, दोपहर 1:05 बजे - राम: नमस्ते"], "2024-12-31 13:05:00", "राम", "नमस्ते"],
    ["hi, morning", ["31/12/24, सुबह 9:05 बजे - राम: नमस्ते"], "2024-12-31 09:05:00", "राम", "नमस्ते"],
    ["vi, the time first", ["21:05, 31/12/2024 - An: chào"], "2024-12-31 21:05:00", "An", "chào"],
    ["vi, iOS", ["[21:05:09, 31/12/2024] An: chào: bạn"], "2024-12-31 21:05:09", "An", "chào: bạn"],
    ["fa, Persian calendar", ["۱۴۰۳/۱۰/۱۱،‏ ۲۱:۰۵ - علی: سلام"], "2024-12-31 21:05:00", "علی", "سلام"],
    ["fa, the last day of a leap year", ["۱۴۰۳/۱۲/۳۰،‏ ۲۱:۰۵ - علی: سلام"], "2025-03-20 21:05:00", "علی", "سلام"],
    ["fa, iOS", ["[۱۴۰۳/۱/۱،‏ ۲۱:۰۵:۰۹] علی: سلام"], "2024-03-20 21:05:09", "علی", "سلام"],
    ["fa, Western digits", ["1403/10/11, 21:05 - Ali: salam"], "2024-12-31 21:05:00", "Ali", "salam"],
    ["cs, no comma", ["01.03.24 15:05 - Eva: ahoj"], "2024-03-01 15:05:00", "Eva", "ahoj"],
    ["tr, 12 h", ["1.03.2024 ÖS 3:05 - Ali: selam"], "2024-03-01 15:05:00", "Ali", "selam"],
    ["vi", ["1/3/24, 3:05 CH - An: chào"], "2024-03-01 15:05:00", "An", "chào"],
    ["th, years of the Buddha", ["1/3/2567 15:05 - Nok: hi"], "2024-03-01 15:05:00", "Nok", "hi"],
    [
      "en-US, with a narrow space",
      ["1/4/23, 7:02\u202fPM - Ann: hi", "2/4/23, 10:35\u202fPM - Bob: ho"],
      "2023-01-04 19:02:00",
      "Ann",
      "hi",
    ],
    ["en-US, iOS", ["[1/14/23, 7:02:09\u202fAM] Ann: hi"], "2023-01-14 07:02:09", "Ann", "hi"],
    ["en-US, midnight", ["1/14/23, 12:02\u202fAM - Ann: hi"], "2023-01-14 00:02:00", "Ann", "hi"],
    ["en-GB, iOS", ["[31/12/2022, 11:40:26] Ann: hi"], "2022-12-31 11:40:26", "Ann", "hi"],
    ["en-AU", ["1/3/2024, 3:05 pm - Ann: hi"], "2024-03-01 15:05:00", "Ann", "hi"],
    ["a mark of the beginning of the file", ["\ufeff31/12/2022, 11:40 - Ann: hi"], "2022-12-31 11:40:00", "Ann", "hi"],
  ])("%s", async (_, lines, time, sender, content) => {
    const { messages, report } = await read(lines);
    const [first] = messages;
    expect(first === undefined ? "nothing" : [when(first.at), first.sender, first.content]).toEqual([
      time,
      sender,
      content,
    ]);
    expect(report.skipped).toBe(0);
  });
});

describe("the order of day and month", () => {
  const dates = (...all: string[]) => all.map((date, index) => `${date}, 10:0${index} - Ann: ${index}`);

  it.each<[string, string[], object, string, RegExp]>([
    ["a day above twelve proves it", dates("01/02/23", "13/02/23"), {}, "DMY", /1 of 2 dates allow no other/],
    ["… the other way", dates("01/02/23", "02/13/23"), {}, "MDY", /1 of 2 dates allow no other/],
    [
      "… against the given order",
      dates("01/02/23", "02/13/23"),
      { dateOrder: "DMY" },
      "MDY",
      /DMY, as given, is impossible/,
    ],
    ["the given order, if the dates allow it", dates("01/02/23", "02/01/23"), { dateOrder: "MDY" }, "MDY", /as given/],
    [
      "dates that go back in time",
      dates("01/02/23", "02/02/23", "01/03/23"),
      {},
      "DMY",
      /0 dates go back in time, with MDY 1 would/,
    ],
    ["upper-case PM", ["1/2/23, 3:00 PM - Ann: x"], {}, "MDY", /written with “PM”/],
    ["lower-case pm", ["1/2/23, 3:00 pm - Ann: x"], {}, "DMY", /written with “pm”/],
    ["the shortest total span", dates("1/2/23", "2/2/23", "3/2/23"), {}, "DMY", /spans 2 days in total, MDY 59/],
    ["the year first", dates("23/01/02", "23/01/31"), {}, "YMD", /allow no other/],
    ["no evidence", dates("01/01/23"), {}, "DMY", /are ambiguous/],
  ])("%s", async (_, lines, options, order, why) => {
    const { report } = await read(lines, options);
    expect(report.notes[0]).toContain(`(${order})`);
    expect(report.notes[0]).toMatch(why);
  });

  it("a few dates that go back in time do not matter", async () => {
    const { report, messages } = await read(dates("12/9/20", "12/8/20", "12/10/20", "12/25/20"));
    expect(report.notes[0]).toContain("(MDY)");
    expect(messages).toHaveLength(4);
  });
});

describe("senders", () => {
  it("CH-12 a direct chat: its name, the other person and the user", async () => {
    const { chats, people, messages } = await read([
      "13/1/25, 10:00 - Messages and calls are end-to-end encrypted.",
      "13/1/25, 10:01 - Ann: first line",
      "second: line",
      "",
      "13/1/25, 10:02 - +358 40 1234567: ok",
    ]);
    expect(chats).toEqual([{ id: "Ann", name: "Ann", type: "direct" }]);
    expect(people).toEqual([
      { id: "Ann", name: "Ann" },
      { id: "+358 40 1234567", name: "+358 40 1234567", phone: "+358401234567", isSelf: true },
    ]);
    expect(messages.map(({ kind, sender, content }) => [kind, sender, content])).toEqual([
      ["system", undefined, "Messages and calls are end-to-end encrypted."],
      ["text", "Ann", "first line\nsecond: line\n"],
      ["text", "+358 40 1234567", "ok"],
    ]);
  });

  it("a group is detected by its senders, or by a chat name that is not a sender", async () => {
    const three = ["Ann", "Bob", "Eve"].map((name) => `13/1/25, 10:00 - ${name}: hi`);
    expect((await read(three, {}, "WhatsApp Chat with Team.txt")).chats).toMatchObject([
      { type: "group", name: "Team" },
    ]);
    expect((await read(three.slice(0, 2), {}, "WhatsApp Chat with Team.txt")).chats).toMatchObject([{ type: "group" }]);
    expect((await read(three.slice(0, 2))).chats).toMatchObject([{ type: "direct" }]);
    expect((await read(three.slice(1, 2))).chats).toMatchObject([{ type: "direct" }]);
  });

  it("a name with a colon is detected by its frequency; a text with a colon is not a name", async () => {
    const { messages } = await read([
      "13/1/25, 10:00 - Ann: Lee: hi: there",
      "13/1/25, 10:01 - Ann: Lee: second",
      "13/1/25, 10:02 - Ann: Lee: third: x",
      "13/1/25, 10:03 - Bob: note: this",
      "13/1/25, 10:04 - Bob: note: that",
      "13/1/25, 10:05 - Bob: plain",
    ]);
    expect(messages.map(({ sender, content }) => [sender, content])).toEqual([
      ["Ann: Lee", "hi: there"],
      ["Ann: Lee", "second"],
      ["Ann: Lee", "third: x"],
      ["Bob", "note: this"],
      ["Bob", "note: that"],
      ["Bob", "plain"],
    ]);
  });

  it("system messages may quote a colon", async () => {
    const { messages } = await read([
      '13/1/25, 10:00 - Ann changed the subject to "Plan: B"',
      "13/1/25, 10:01 - Ann: ok",
    ]);
    expect(messages.map(({ kind }) => kind)).toEqual(["system", "text"]);
  });

  it("system messages may quote two names with colons repeatedly", async () => {
    const { messages, people } = await read([
      '31/12/24, 9:10 PM - Frank changed the subject from "Old: one" to "New: two"',
      '31/12/24, 9:11 PM - Frank changed the subject from "Old: one" to "New: two"',
      "31/12/24, 9:12 PM - Frank geändert von „Alt: eins“ zu „Neu: zwei“",
      '31/12/24, 9:13 PM - Robert "Bob" Smith: note: hi',
      '31/12/24, 9:14 PM - ד"ר כהן: שלום: כן',
    ]);
    expect(messages.map(({ kind, content }) => [kind, content])).toEqual([
      ["system", 'Frank changed the subject from "Old: one" to "New: two"'],
      ["system", 'Frank changed the subject from "Old: one" to "New: two"'],
      ["system", "Frank geändert von „Alt: eins“ zu „Neu: zwei“"],
      ["text", "note: hi"],
      ["text", "שלום: כן"],
    ]);
    expect(people.map(({ id }) => id)).toEqual(['Robert "Bob" Smith', 'ד"ר כהן']);
  });

  it("iOS writes system messages under people's names, with a mark", async () => {
    const said = async (content: string) => {
      const lines = [
        "[31/12/2022, 11:39:00] Team: \u200eMessages and calls are end-to-end encrypted.",
        "[31/12/2022, 11:40:26] Ann: hi",
        "[31/12/2022, 11:41:00] Bob: ho",
        ...`\u200e[31/12/2022, 11:42:00] Carl: ${content}`.split("\n"),
      ];
      const { messages, people } = await read(lines, {}, "_chat.txt");
      const { kind, sender, content: text } = messages.at(-1) ?? {};
      expect(people.some(({ id }) => id === "Carl")).toBe(sender === "Carl");
      return [kind, sender, text];
    };
    expect(await said("\u200eCarl left")).toEqual(["system", undefined, "Carl left"]);
    expect(await said("\u200eAnn created this group")).toEqual(["system", undefined, "Ann created this group"]);
    expect(await said("\u200eCarl changed the subject to “Plan: B”")).toEqual([
      "system",
      undefined,
      "Carl changed the subject to “Plan: B”",
    ]);
    expect(await said("\u200eVoice call. \u200e5 min")).toEqual(["call", "Carl", "Voice call. 5 min"]);
    expect(await said("\u200eMissed video call, \u200eTap to call back")).toEqual([
      "call",
      "Carl",
      "Missed video call, Tap to call back",
    ]);
    expect(await said("\u200eLocation: https://maps.google.com/?q=60.1,24.9")).toEqual([
      "location",
      "Carl",
      "Location: https://maps.google.com/?q=60.1,24.9",
    ]);
    expect(await said("\u200eCafe (Street 9): https://foursquare.com/v/4b05")).toContain("location");
    expect(await said("\u200ePOLL:\nLunch?\n\u200eOPTION: yes (\u200e2 votes)")).toEqual([
      "poll",
      "Carl",
      "POLL:\nLunch?\nOPTION: yes (2 votes)",
    ]);
    // Typed text may also begin with the mark, in right-to-left scripts.
    expect(await said("\u200emine\nand more")).toEqual(["text", "Carl", "\u200emine\nand more"]);
    expect(await said("voice call")).toEqual(["text", "Carl", "voice call"]);
  });

  it("iOS writes system messages under the group's name, with a mark", async () => {
    const { messages, chats, people } = await read(
      [
        "[31/12/2022, 11:39:00] Team: \u200eMessages and calls are end-to-end encrypted.",
        "[31/12/2022, 11:40:26] Ann: hi",
        "[31/12/2022, 11:42:00] Team: \u200eAnn created this group",
        "[31/12/2022, 11:43:00] ~\u202fBob: ho",
      ],
      {},
      "_chat.txt",
    );
    expect(chats).toEqual([{ id: "Team", name: "Team", type: "group" }]);
    expect(people.map(({ id }) => id)).toEqual(["Ann", "Bob"]);
    expect(messages.map(({ kind, sender }) => [kind, sender])).toEqual([
      ["system", undefined],
      ["text", "Ann"],
      ["system", undefined],
      ["text", "Bob"],
    ]);
  });

  it("a header in another notation is text; one in the same notation begins a message", async () => {
    const { messages } = await read([
      "31/12/2022, 11:40 - Ann: she wrote",
      "[31/12/2022, 11:41:00] Eve: quoted",
      "12/31/22, 3:05 PM - Eve: quoted",
      "31/12/2022, 11:45 - Bob: own",
    ]);
    expect(messages).toHaveLength(2);
    expect(messages[0]?.content).toBe("she wrote\n[31/12/2022, 11:41:00] Eve: quoted\n12/31/22, 3:05 PM - Eve: quoted");
  });

  it("the given name of the user is used", async () => {
    const { people } = await read(["13/1/25, 10:00 - Ann: x", "13/1/25, 10:00 - Bob: y"], { self: "Ann" });
    expect(people).toMatchObject([{ id: "Ann", isSelf: true }, { id: "Bob" }]);
    expect(people[1]).not.toHaveProperty("isSelf");
  });
});

describe("attachments", () => {
  it.each<[string, string, object]>([
    [
      "Android",
      "IMG-20230204-WA0001.jpg (file attached)\nlook",
      {
        kind: "media",
        content: "look",
        attachments: [{ kind: "image", name: "IMG-20230204-WA0001.jpg", available: false }],
      },
    ],
    [
      "Android, in a language that we do not know",
      "PTT-20230204-WA0001.opus (xyzzy)",
      { attachments: [{ kind: "voice" }] },
    ],
    [
      "Android, a document",
      "Plan v2.pdf (Datei angehängt)",
      { content: "", attachments: [{ kind: "file", name: "Plan v2.pdf" }] },
    ],
    ["a sticker", "STK-20230204-WA0001.webp (file attached)", { kind: "sticker", attachments: [{ kind: "sticker" }] }],
    ["a contact", "Bob.vcf (file attached)", { kind: "contact" }],
    [
      "iOS",
      "\u200e<attached: 00000001-PHOTO-2022-12-31-11-41-00.jpg>",
      { kind: "media", content: "", attachments: [{ kind: "image" }] },
    ],
    [
      "iOS, a document",
      "report.pdf • \u200e2 pages \u200e<attached: 00000005-report.pdf>",
      { content: "report.pdf • 2 pages", attachments: [{ kind: "file", name: "00000005-report.pdf" }] },
    ],
    ["left out", "<Media omitted>", { kind: "media", content: "", attachments: [{ kind: "file", available: false }] }],
    ["left out, iOS", "\u200eimage omitted", { kind: "media", attachments: [{ kind: "image", available: false }] }],
    ["left out, ru", "<Без медиафайлов>", { kind: "media" }],
    [
      "a contact card left out",
      "\u200econtact card omitted",
      { kind: "contact", content: "", attachments: [{ kind: "file", mime: "text/vcard", available: false }] },
    ],
    [
      "a document left out, behind its name",
      "report.pdf • \u200e2 pages \u200edocument omitted",
      { kind: "media", content: "", attachments: [{ kind: "file", name: "report.pdf", available: false }] },
    ],
    [
      "a picture left out, behind its caption",
      "look\nhere \u200eimage omitted",
      { kind: "media", content: "look\nhere", attachments: [{ kind: "image" }] },
    ],
    ["seen once", "<View once voice message omitted>", { kind: "media", attachments: [{ kind: "voice" }] }],
    ...(
      [
        ["fi", "<Media jätettiin pois>", "file", "\u200eei kuvaa", "image", "a.pdf (liitetiedosto)"],
        ["sv", "<Media har utelämnats>", "file", "\u200evideo utesluten", "video", "a.pdf (bifogad fil)"],
        ["da", "<Mediefil udeladt>", "file", "\u200elyd udeladt", "audio", "a.pdf (fil vedhæftet)"],
        ["he", "<המדיה לא נכללה>", "file", "\u200eסטיקר הושמט", "sticker", "a.pdf (קובץ מצורף)"],
        ["ko", "<미디어 파일 제외됨>", "file", "\u200e이미지 생략됨", "image", "a.pdf (파일 첨부됨)"],
        ["cs", "< Média vynechána >", "file", "\u200eobrázek vynechán", "image", "a.pdf (soubor byl přiložen)"],
        ["bg", "<Без файл>", "file", "\u200eGIF omitted", "video", "a.pdf (прикачен файл)"],
        ["hi", "<मीडिया के बिना>", "file", "\u200eफ़ोटो हटाई गई", "image", "a.pdf (फाइल अटैच कर दी गई है)"],
        ["vi", "<Bỏ qua Media>", "file", "\u200eđã bỏ video", "video", "a.pdf (tệp đính kèm)"],
        ["fa", "<رسانه حذف شد>", "file", "\u200eتصویر حذف شد", "image", "a.pdf (file attached)"],
      ] as const
    ).flatMap(([language, android, any, ios, kind, attached]): [string, string, object][] => [
      [`left out, ${language}`, android, { kind: "media", attachments: [{ kind: any, available: false }] }],
      [`left out, ${language}, iOS`, ios, { attachments: [{ kind, available: false }] }],
      [`attached, ${language}`, attached, { attachments: [{ kind: "file", name: "a.pdf" }] }],
    ]),
    ["a place", "location: https://maps.google.com/?q=60.1,24.9", { kind: "location" }],
    ["deleted", "This message was deleted", { kind: "system", sender: "Ann" }],
    ["a call", "\u200eMissed voice call", { kind: "call" }],
    [
      "edited",
      "hello <This message was edited>",
      { kind: "text", content: "hello", editedAt: Date.parse("2025-01-13T10:00:00Z") },
    ],
    ["words that look like it", "see plan.txt (the draft)", { kind: "text", content: "see plan.txt (the draft)" }],
    ["an unknown phrase", "<xyzzy>", { kind: "text", content: "<xyzzy>" }],
  ])("%s", async (_, content, expected) => {
    const { messages } = await read(["13/1/25, 09:00 - Bob: x", ...`13/1/25, 10:00 - Ann: ${content}`.split("\n")]);
    expect(messages[1]).toMatchObject(expected);
  });

  it("in a zip, a file name is an attachment if the zip contains it", async () => {
    const text =
      "13/1/25, 10:00 - Ann: my notes.txt (yyy)\n13/1/25, 10:01 - Bob: IMG-20230204-WA0001.jpg (file attached)\n";
    const zip = zipOf({ "WhatsApp Chat with Ann.txt": text, "my notes.txt": "x" });
    const { messages, chats } = await importFile(whatsappImporter, await folder.file("export.zip", zip));
    expect(chats).toMatchObject([{ name: "Ann" }]);
    expect(messages.map(({ attachments }) => attachments)).toEqual([
      [
        {
          kind: "file",
          name: "my notes.txt",
          available: true,
          file: { root: `${folder.path}/export.zip`, name: "my notes.txt" },
        },
      ],
      [{ kind: "image", name: "IMG-20230204-WA0001.jpg", available: false }],
    ]);
  });
});

it.each([
  ["WhatsApp Chat with Ann.txt", "Ann"],
  ["WhatsApp Chat - Ann & Bob.zip", "Ann & Bob"],
  ["WhatsApp_Chat_with_Ann_Lee.txt", "Ann Lee"],
  ["WhatsApp Chat mit Uwe (2).txt", "Uwe"],
  ["Chat de WhatsApp con Eva.txt", "Eva"],
  ["Discussion WhatsApp avec Léa.txt", "Léa"],
  ["Чат WhatsApp с контактом Иван.txt", "Иван"],
  ["與小明的 WhatsApp 對話.txt", "小明"],
  ["Team.txt", "Team"],
])("the chat's name in %s", async (file, name) => {
  const text = "13/1/25, 10:00 - X: hi";
  const content = file.endsWith(".zip") ? zipOf({ "_chat.txt": text }) : text;
  const { chats } = await importFile(whatsappImporter, await folder.file(file, content));
  expect(chats).toMatchObject([{ id: name, name }]);
});

describe("CH-12 ids", () => {
  const lines = [
    "13/1/25, 10:00 - Ann: ok",
    "13/1/25, 10:00 - Ann: ok",
    "13/1/25, 10:01 - Bob: <Media omitted>",
    "14/1/25, 09:00 - Ann: x",
  ];
  const idsOf = async (some: readonly string[], options = {}) =>
    (await read(some, options)).messages.map(({ id }) => id);

  it("an overlapping export has the same ids for known messages", async () => {
    const before = await idsOf(lines);
    expect(new Set(before).size).toBe(4);
    const after = await idsOf([...lines, "14/1/25, 09:01 - Bob: new"]);
    expect(after.slice(0, 4)).toEqual(before);
    // The app drops the beginning of a long chat.
    expect(await idsOf(lines.slice(2))).toEqual(before.slice(2));
  });

  it("time zone and media do not change ids", async () => {
    const before = await idsOf(lines);
    expect(await idsOf(lines, { timeZone: "Asia/Tokyo" })).toEqual(before);
    const withMedia = lines.with(2, "13/1/25, 10:01 - Bob: IMG-20250113-WA0001.jpg (file attached)");
    expect(await idsOf(withMedia)).toEqual(before);
  });
});

describe("damage", () => {
  it("a file without messages is reported", async () => {
    const { report, messages } = await read(["once upon a time", "there was a file"]);
    expect(messages).toEqual([]);
    expect(report).toMatchObject({ messages: 0, skipped: 1, problems: ["the file: no WhatsApp message found"] });
  });

  it("lines before the first message count as one skipped item", async () => {
    const { report, messages } = await read(["tail of", "a message", "13/1/25, 10:00 - Ann: hi"]);
    expect(messages).toHaveLength(1);
    expect(report).toMatchObject({ skipped: 1, problems: ["line 1: belongs to no message"] });
  });

  it("a zip without a chat is rejected with a fix", async () => {
    const path = await folder.file("x.zip", zipOf({ "photo.jpg": "x", "b.png": "y" }));
    await expect(importFile(whatsappImporter, path)).rejects.toMatchObject({ code: "IMPORT_FAILED" });
  });

  it.each(["<", ">", "(", ")", " ", ":", ": ", "a.b (", "<a: b.c>", "\u200e", "1", "1/", "[", ".", "<a: "])(
    "a long text of nothing but “%s” takes no longer than another",
    async (sign) => {
      const body = sign.repeat(65_000 / sign.length);
      const from = performance.now();
      const { messages } = await read(["13/1/2025, 10:00 - Ann: hi", `13/1/2025, 10:01 - Ann: x${body}`, body]);
      expect(messages).toHaveLength(2);
      // A generous limit, which only detects a hang.
      expect(performance.now() - from).toBeLessThan(5000);
    },
  );

  it("a date that does not exist begins no message", async () => {
    const { messages } = await read(["13/1/2025, 10:00 - Ann: hi", "31/2/2025, 10:00 - Ann: no"]);
    expect(messages.map(({ content }) => content)).toEqual(["hi\n31/2/2025, 10:00 - Ann: no"]);
  });
});

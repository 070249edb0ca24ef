// What the app writes in place of things that are no text, in the languages that we know. What is unknown stays text.

import type { AttachmentKind, MessageKind } from "../../source.ts";

/** In small letters, without marks, dots and angle brackets. */
const OMITTED: Readonly<Record<AttachmentKind | "any", readonly string[]>> = {
  any: [
    "media omitted",
    "medien ausgeschlossen",
    "multimedia omitido",
    "archivo omitido",
    "médias omis",
    "media omessi",
    "media omesso",
    "mídia oculta",
    "ficheiro não revelado",
    "media weggelaten",
    "без медиафайлов",
    "média vynechány",
    "pominięto multimedia",
    "plik pominięty",
    "media utelämnad",
    "mediaa ei mukana",
    "medya dahil edilmedi",
    "media tidak disertakan",
    "מדיה הושמטה",
    "تم استبعاد الوسائط",
    "मीडिया छोड़ा गया",
    "미디어 파일을 생략했습니다",
    "メディアなし",
    "省略多媒體檔",
    "忽略多媒体文件",
  ],
  image: [
    "image omitted",
    "bild weggelassen",
    "imagen omitida",
    "image absente",
    "immagine omessa",
    "imagem ocultada",
    "afbeelding weggelaten",
    "изображение опущено",
  ],
  video: [
    "video omitted",
    "video weggelassen",
    "video omitido",
    "vidéo absente",
    "video omesso",
    "vídeo omitido",
    "video weggelaten",
    "gif omitted",
    "gif weggelassen",
    "gif omitido",
    "gif retiré",
    "video note omitted",
    "видео опущено",
  ],
  audio: [
    "audio omitted",
    "audio weggelassen",
    "audio omitido",
    "audio omis",
    "audio omesso",
    "áudio ocultado",
    "audio weggelaten",
    "аудио опущено",
  ],
  voice: ["voice message omitted"],
  sticker: [
    "sticker omitted",
    "sticker weggelassen",
    "sticker omitido",
    "sticker omis",
    "sticker omesso",
    "figurinha omitida",
    "sticker weggelaten",
    "стикер опущен",
  ],
  file: [
    "document omitted",
    "dokument weggelassen",
    "documento omitido",
    "document omis",
    "documento omesso",
    "document weggelaten",
    "contact card omitted",
    "kontaktkarte ausgelassen",
  ],
};

const ATTACHED: readonly string[] = [
  "file attached",
  "datei angehängt",
  "archivo adjunto",
  "fichier joint",
  "file allegato",
  "arquivo anexado",
  "ficheiro anexado",
  "bestand bijgevoegd",
  "файл добавлен",
  "soubor byl přiložen",
  "załączono plik",
  "fil bifogad",
  "tiedosto liitetty",
  "dosya ekli",
  "file terlampir",
  "קובץ מצורף",
  "ملف مرفق",
  "फ़ाइल संलग्न है",
  "첨부 파일",
  "添付ファイル",
  "檔案已附加",
  "文件附件",
];

const DELETED: readonly string[] = [
  "this message was deleted",
  "you deleted this message",
  "diese nachricht wurde gelöscht",
  "du hast diese nachricht gelöscht",
  "se eliminó este mensaje",
  "eliminaste este mensaje",
  "ce message a été supprimé",
  "vous avez supprimé ce message",
  "questo messaggio è stato eliminato",
  "hai eliminato questo messaggio",
  "esta mensagem foi apagada",
  "mensagem apagada",
  "você apagou esta mensagem",
  "dit bericht is verwijderd",
  "данное сообщение удалено",
  "вы удалили данное сообщение",
];

const CALLS: readonly string[] = [
  "missed voice call",
  "missed video call",
  "missed group voice call",
  "missed group video call",
  "verpasster sprachanruf",
  "verpasster videoanruf",
  "llamada perdida",
  "videollamada perdida",
  "appel vocal manqué",
  "appel vidéo manqué",
  "chiamata vocale persa",
  "chamada de voz perdida",
  "gemiste spraakoproep",
  "пропущенный аудиозвонок",
];

const EDITED: readonly string[] = [
  "this message was edited",
  "diese nachricht wurde bearbeitet",
  "se editó este mensaje",
  "ce message a été modifié",
  "questo messaggio è stato modificato",
  "mensagem editada",
];

/** Longer is no phrase. */
const MAX_PHRASE_CHARS = 150;

const OMITTED_KINDS: ReadonlyMap<string, AttachmentKind> = new Map(
  Object.entries(OMITTED).flatMap(([kind, phrases]) =>
    phrases.map((phrase) => [phrase, kind === "any" ? "file" : toKind(kind)] as const),
  ),
);

function toKind(kind: string): AttachmentKind {
  switch (kind) {
    case "image":
    case "video":
    case "audio":
    case "voice":
    case "sticker":
      return kind;
    default:
      return "file";
  }
}

/** What was left out of the export, where the line says that something was. */
export function omittedKind(line: string): AttachmentKind | undefined {
  if (line.length > MAX_PHRASE_CHARS) return undefined;
  return OMITTED_KINDS.get(bare(line));
}

export function saysAttached(words: string): boolean {
  return ATTACHED.includes(bare(words));
}

/** What a text of the app's own is, under somebody's name. */
export function kindOfPhrase(text: string): MessageKind | undefined {
  if (/^\u200e?POLL:\n/.test(text)) return "poll";
  if (text.length > MAX_PHRASE_CHARS) return undefined;
  const phrase = bare(text);
  if (DELETED.includes(phrase)) return "system";
  // Some tell behind a comma how it can be called back.
  if (CALLS.includes(phrase.split(",", 1)[0] ?? "")) return "call";
  return /^[^:\n]{1,30}: https:\/\/maps\.google\.com\/\?q=[-\d.,]+$/.test(text.trim()) ? "location" : undefined;
}

/** The app says behind a text that it was edited. */
export function withoutEdited(text: string): { readonly text: string; readonly isEdited: boolean } {
  const trimmed = text.trimEnd();
  const from = trimmed.lastIndexOf("<");
  if (
    !trimmed.endsWith(">") ||
    trimmed.length - from > MAX_PHRASE_CHARS ||
    !EDITED.includes(bare(trimmed.slice(from)))
  ) {
    return { text, isEdited: false };
  }
  return {
    text: trimmed
      .slice(0, from)
      .replace(/\u200e$/, "")
      .trimEnd(),
    isEdited: true,
  };
}

function bare(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f]/g, "")
    .trim()
    .replace(/^<(.*)>$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

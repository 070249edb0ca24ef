// A generated history: three sources, imported one after the other and chat by chat, as export files are, so that what
// comes later is mostly older than what is there. 60 % Latin, 15 % Cyrillic, 15 % Han, 5 % Hangul, 5 % Arabic.

import { createRandom, pick, zipf } from "./random.mjs";

const VOCABULARY = 40_000;
const FIRST_DAY = Date.UTC(2021, 0, 1);
const SPAN_MS = 5 * 365 * 24 * 3600 * 1000;
const SOURCES = [
  { id: "telegram", share: 0.5, chats: 400, senders: 2000 },
  { id: "whatsapp", share: 0.3, chats: 300, senders: 1000 },
  { id: "signal", share: 0.2, chats: 300, senders: 500 },
];
const SCRIPTS = [
  { share: 0.6, letters: "etaoinshrdlucmfwypvbgkjqxzéü", space: " ", length: [2, 9] },
  { share: 0.15, letters: "оеаинтсрвлкмдпуяызьбгчйхжшюцщэф", space: " ", length: [2, 9] },
  { share: 0.15, letters: han(3000), space: "", length: [1, 3] },
  { share: 0.05, letters: hangul(1500), space: " ", length: [1, 4] },
  { share: 0.05, letters: "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", space: " ", length: [2, 7] },
];

function han(count) {
  return Array.from({ length: count }, (_, index) => String.fromCodePoint(0x4e00 + index * 5)).join("");
}

function hangul(count) {
  return Array.from({ length: count }, (_, index) => String.fromCodePoint(0xac00 + index * 7)).join("");
}

export class History {
  #vocabularies;

  constructor(messages, seed = 1) {
    this.messages = messages;
    this.seed = seed;
    const random = createRandom(seed);
    this.#vocabularies = SCRIPTS.map((script) => makeWords(random, script));
  }

  /** The word that is so common in a script: 0 is the commonest. */
  word(script, rank) {
    return this.#vocabularies[script][rank];
  }

  /** A word that stands in a handful of messages. */
  rareWord(nth) {
    return `zq${nth.toString(36)}zq`;
  }

  get rareWords() {
    return Math.ceil(this.messages / 20_000);
  }

  /** Batches of events, source by source and chat by chat, in the order of time within a chat. */
  *batches(size) {
    const random = createRandom(this.seed + 1);
    for (const source of SOURCES) {
      yield { source: source.id, events: [...this.#people(source), ...this.#chats(source)] };
      const events = [];
      const shares = Array.from({ length: source.chats }, (_, index) => 1 / (index + 3));
      const total = shares.reduce((sum, share) => sum + share, 0);
      for (const [index, share] of shares.entries()) {
        const count = Math.max(20, Math.round((this.messages * source.share * share) / total));
        for (const event of this.#chat(random, source, `${source.id}-${index}`, count)) {
          events.push(event);
          if (events.length === size) yield { source: source.id, events: events.splice(0) };
        }
        // A file for each chat there, one for all elsewhere.
        if (source.id === "whatsapp" && events.length > 0) yield { source: source.id, events: events.splice(0) };
      }
      if (events.length > 0) yield { source: source.id, events };
    }
  }

  *#chat(random, source, chat, count) {
    const members = Array.from({ length: 2 + Math.floor(random() * 20) }, () => zipf(random, source.senders));
    const step = SPAN_MS / count;
    for (let index = 0; index < count; index++) {
      const at = Math.floor(FIRST_DAY + index * step + random() * step);
      // WhatsApp tells minutes only.
      const rounded = source.id === "whatsapp" ? at - (at % 60_000) : at;
      yield {
        type: "message",
        origin: "import",
        message: {
          id: source.id === "whatsapp" ? `${hex(random)}${hex(random)}` : String(index + 1),
          chat,
          sender: `${source.id}-u${pick(random, members)}`,
          at: rounded,
          kind: "text",
          content: this.text(random),
        },
      };
    }
  }

  text(random) {
    const chance = random();
    let sum = 0;
    const script = SCRIPTS.findIndex(({ share }) => (sum += share) > chance);
    const { space } = SCRIPTS[script];
    const vocabulary = this.#vocabularies[script];
    const words = Array.from({ length: 3 + Math.floor(random() * 17) }, () => vocabulary[zipf(random, VOCABULARY)]);
    if (random() < 0.001) words.push(` ${this.rareWord(Math.floor(random() * this.rareWords))}`);
    return words.join(space);
  }

  #people({ id, senders }) {
    return Array.from({ length: senders }, (_, index) => ({
      type: "person",
      person: { id: `${id}-u${index}`, name: `Person ${index} of ${id}`, username: `${id}${index}` },
    }));
  }

  #chats({ id, chats }) {
    return Array.from({ length: chats }, (_, index) => ({
      type: "chat",
      chat: { id: `${id}-${index}`, name: `Chat ${index}`, type: index % 3 === 0 ? "direct" : "group" },
    }));
  }
}

function makeWords(random, { letters, length: [shortest, longest] }) {
  const characters = [...letters];
  return Array.from({ length: VOCABULARY }, (_, rank) => {
    // Common words are short.
    const length = shortest + Math.floor((longest - shortest + 1) * random() * Math.min(1, 0.3 + rank / 2000));
    return Array.from({ length }, () => characters[zipf(random, characters.length)]).join("");
  });
}

function hex(random) {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}

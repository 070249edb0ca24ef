// Schemas of signal-cli's JSON. Empty values are null, empty lists are omitted.

import { z } from "zod";

const text = z.string().nullish();
const number = z.number().nullish();

const address = z.object({ uuid: text, number: text });

const attachment = z.object({
  contentType: text,
  filename: text,
  size: number,
  isVoiceNote: z.boolean().nullish(),
  voiceNote: z.boolean().nullish(),
});

const groupInfo = z.object({ groupId: z.string(), groupName: text, type: text });

const dataMessage = z.object({
  timestamp: z.number(),
  message: text,
  expiresInSeconds: number,
  expirationStartTimestamp: number,
  isExpirationUpdate: z.boolean().nullish(),
  viewOnce: z.boolean().nullish(),
  groupInfo: groupInfo.nullish(),
  mentions: z
    .array(z.object({ name: text, number: text, uuid: text, start: z.number(), length: z.number() }))
    .nullish(),
  quote: z.object({ id: z.number(), author: text, authorNumber: text, authorUuid: text }).nullish(),
  reaction: z
    .object({
      emoji: z.string(),
      targetAuthor: text,
      targetAuthorNumber: text,
      targetAuthorUuid: text,
      targetSentTimestamp: z.number(),
      isRemove: z.boolean().nullish(),
    })
    .nullish(),
  remoteDelete: z.object({ timestamp: z.number() }).nullish(),
  adminDelete: z
    .object({ targetAuthor: text, targetAuthorNumber: text, targetAuthorUuid: text, targetSentTimestamp: z.number() })
    .nullish(),
  attachments: z.array(attachment).nullish(),
  sticker: z.object({ emoji: text }).nullish(),
  contacts: z.array(z.object({ name: z.object({ display: text, given: text, givenName: text }).nullish() })).nullish(),
  pollCreate: z.object({ question: z.string(), options: z.array(z.string()).default([]) }).nullish(),
  payment: z.object({}).nullish(),
});

const edited = z.object({ targetSentTimestamp: z.number(), dataMessage });

/** A message or edit sent from another device, with its destination. */
const sentMessage = z.object({
  ...dataMessage.partial({ timestamp: true }).shape,
  destination: text,
  destinationNumber: text,
  destinationUuid: text,
  editMessage: edited.nullish(),
});

const envelope = z.object({
  source: text,
  sourceNumber: text,
  sourceUuid: text,
  sourceName: text,
  timestamp: z.number(),
  dataMessage: dataMessage.nullish(),
  editMessage: edited.nullish(),
  syncMessage: z
    .object({
      sentMessage: sentMessage.nullish(),
      readMessages: z
        .array(z.object({ sender: text, senderNumber: text, senderUuid: text, timestamp: z.number() }))
        .nullish(),
    })
    .nullish(),
  callMessage: z.object({ offerMessage: z.object({ type: text }).nullish() }).nullish(),
});

const received = z.object({
  account: text,
  envelope: envelope.nullish(),
  exception: z.object({ type: text }).nullish(),
});

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string().default("") }) }),
  z.object({ result: z.unknown() }),
]);

const accounts = z.array(z.object({ number: z.string() }));
const groups = z.array(
  z.object({ id: z.string(), name: text, members: z.array(z.unknown()).nullish(), isMember: z.boolean().nullish() }),
);
const contacts = z.array(
  z.object({
    uuid: text,
    number: text,
    username: text,
    name: text,
    profile: z.object({ givenName: text, familyName: text }).nullish(),
  }),
);
const statuses = z.array(address);
const sent = z.object({ timestamp: z.number(), results: z.array(z.object({ type: z.string() })).default([]) });

export type Attachment = z.infer<typeof attachment>;
export type DataMessage = z.infer<typeof dataMessage>;
export type Envelope = z.infer<typeof envelope>;
export type ReadMessage = NonNullable<NonNullable<Envelope["syncMessage"]>["readMessages"]>[number];
export type SentMessage = z.infer<typeof sentMessage>;
export type Received = z.infer<typeof received>;
export type Contact = z.infer<typeof contacts>[number];

export const wire = { accounts, contacts, groups, received, rpcAnswer, sent, statuses };

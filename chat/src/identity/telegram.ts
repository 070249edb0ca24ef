// Ids of Telegram chats and messages in a source that combines exports of an account, a bot, and Business connections.
// Channels and supergroups number their messages for all members. In private chats and basic groups every account has its own
// numbers, and a bot is an account:
//
//   1001                 the user's private chat with 1001, numbered by the user's account: exports
//   business:1000:1001   the same chat of the user 1000 through a Business connection; the same message numbers
//   bot:9999:1001        the chat of 1001 with the bot 9999; other messages, numbered by the bot
//   -2001                a basic group; messages are numbered by the account (57) or by the bot (bot:9999:12)
//   -1003001             a channel or supergroup

/** The numbering of the user's own account. */
export const ACCOUNT_NUMBERING = "account";

export const botNumbering = (bot: string): string => `bot:${bot}`;

export const botChatId = (bot: string, user: string): string => `${botNumbering(bot)}:${user}`;

export const botMessageId = (bot: string, id: number): string => `${botNumbering(bot)}:${id}`;

export const businessChatId = (owner: string, user: string): string => `business:${owner}:${user}`;

export const basicGroupId = (group: string): string => `-${group}`;

/** The Bot API's ids of channels and supergroups begin below this. */
const FIRST_CHANNEL_ID = -1_000_000_000_000;

export const isBasicGroupId = (id: string): boolean => /^-\d+$/.test(id) && Number(id) > FIRST_CHANNEL_ID;

/** The id that earlier versions gave an imported basic group. */
export const formerBasicGroupId = (group: string): string => `chat${group}`;

/** A private chat of one account: `account` is the user or the bot. */
export interface PrivateChat {
  readonly via: "bot" | "business";
  readonly account: string;
  readonly user: string;
}

export function parsePrivateChatId(id: string): PrivateChat | undefined {
  const [via, account, user] = id.split(":");
  if ((via !== "bot" && via !== "business") || account === undefined || user === undefined) return undefined;
  return { via, account, user };
}

/** A private chat of the user's account. */
export const isAccountChatId = (id: string): boolean => /^\d+$/.test(id);

/** Telegram's number of a message, for the account that numbered it. */
export const messageNumber = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

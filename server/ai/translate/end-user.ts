import { contentFingerprint } from '#server/crypto/canonical-json.ts';

/** Characters of an end user's ID that OpenAI takes, and so who speaks like it. */
export const LONGEST_CHAT_USER = 64;
/** Anthropic's `metadata.user_id`. */
export const LONGEST_MESSAGES_USER = 256;

/** The ID of an end user as another provider takes it: a longer one, such as Claude Code's, is told apart by its SHA-256. */
export const endUser = (id: string, longest: number): string => (id.length <= longest ? id : contentFingerprint(id).slice(0, longest));

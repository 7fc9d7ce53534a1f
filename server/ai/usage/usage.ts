import type { ImageKind, ImageRequest } from './image-request.ts';

/** What a call used, in the same classes for every provider (spec/51 §9.2). Counts of tokens, but for the last five before `source`. */
export type Usage = {
  input_uncached: number;
  input_cached: number;
  cache_write_5m: number;
  cache_write_1h: number;
  output_text: number;
  reasoning: number;
  /** The part of `input_uncached` and of `output_text` that is pictures, where the provider says so. */
  input_image: number;
  output_image: number;
  requests_web_search: number;
  images: number;
  /** Pictures that were sent along to make others of. */
  images_sent: number;
  seconds_audio: number;
  /** Of text that is spoken. */
  characters: number;
  source: 'provider' | 'estimated';
  /** The processing tier of the call, where the provider or the caller names one; it decides the price. */
  tier?: ServiceTier;
  /** Size and quality of the images, as the answer or else the request says; they decide the price. */
  image?: ImageKind;
  /** What the provider reported with a number that can't be true: `chargeable` estimates it. */
  unread?: readonly Side[];
};

export type Side = 'input' | 'output';

export const SERVICE_TIERS = ['default', 'flex', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

export const noUsage: Readonly<Usage> = Object.freeze({
  input_uncached: 0,
  input_cached: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output_text: 0,
  reasoning: 0,
  input_image: 0,
  output_image: 0,
  requests_web_search: 0,
  images: 0,
  images_sent: 0,
  seconds_audio: 0,
  characters: 0,
  source: 'provider',
});

export const inputTokens = (usage: Usage): number =>
  usage.input_uncached + usage.input_cached + usage.cache_write_5m + usage.cache_write_1h;

export const outputTokens = (usage: Usage): number => usage.output_text + usage.reasoning;

/** Both calls together, as a schema retry is charged. Estimated when either was. */
export function sumOf(a: Usage, b: Usage): Usage {
  return {
    input_uncached: a.input_uncached + b.input_uncached,
    input_cached: a.input_cached + b.input_cached,
    cache_write_5m: a.cache_write_5m + b.cache_write_5m,
    cache_write_1h: a.cache_write_1h + b.cache_write_1h,
    output_text: a.output_text + b.output_text,
    reasoning: a.reasoning + b.reasoning,
    input_image: a.input_image + b.input_image,
    output_image: a.output_image + b.output_image,
    requests_web_search: a.requests_web_search + b.requests_web_search,
    images: a.images + b.images,
    images_sent: a.images_sent + b.images_sent,
    seconds_audio: a.seconds_audio + b.seconds_audio,
    characters: a.characters + b.characters,
    source: a.source === 'estimated' || b.source === 'estimated' ? 'estimated' : 'provider',
  };
}

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 85;
/** What a picture that is to be edited takes at most, at the highest fidelity. */
const TOKENS_PER_EDITED_IMAGE = 7_000;

/** The least that a second of recorded speech takes in a common format (16 kbit/s), so that a length guessed from bytes is never too short. */
const BYTES_PER_SECOND = 2_000;

/** What was sent, for an estimate: bytes of text, pictures in it, characters to speak, bytes of a recording, images to make. */
export type Sent = { textBytes: number; images: number; characters?: number; audioBytes?: number; makes?: ImageRequest };

/** A guess for a call without counts of the provider: four bytes a token, 85 tokens an image (spec/51 §9.2). Recordings have a length and no tokens. */
export function estimatedUsage(sent: Sent, receivedBytes: number): Usage {
  return {
    ...noUsage,
    ...estimatedMedia(sent),
    input_uncached: estimatedInput(sent),
    // What was spoken or drawn comes back as audio and images, whose bytes are no tokens.
    output_text: sent.characters === undefined && sent.makes === undefined ? Math.ceil(receivedBytes / BYTES_PER_TOKEN) : 0,
    source: 'estimated',
  };
}

/** What a call is charged with: what the provider counted, with an estimate of what it didn't, or of what can't be read. */
export function chargeable(counted: Usage | undefined, sent: Sent, receivedBytes: number): Usage {
  if (counted !== undefined && counted.unread === undefined) return counted;
  const estimate = estimatedUsage(sent, receivedBytes);
  if (counted === undefined) return estimate;
  const { unread = [], ...known } = counted;
  return {
    ...known,
    ...(unread.includes('input') && {
      input_uncached: known.input_uncached + Math.max(0, estimate.input_uncached - inputTokens(known)),
      seconds_audio: Math.max(known.seconds_audio, estimate.seconds_audio),
    }),
    ...(unread.includes('output') && {
      output_text: known.output_text + Math.max(0, estimate.output_text - outputTokens(known)),
    }),
    source: 'estimated',
  };
}

/** What a call of speech, transcription or images is charged by, before or without an answer that says. */
export const estimatedMedia = ({ characters = 0, audioBytes = 0, makes }: Sent) => ({
  characters,
  seconds_audio: Math.ceil(audioBytes / BYTES_PER_SECOND),
  ...(makes && { images: makes.count, images_sent: makes.sent, input_image: makes.sent * TOKENS_PER_EDITED_IMAGE, image: makes.kind }),
});

/** Input tokens of a request that was not sent yet: what a reservation counts with. */
export const estimatedInput = ({ textBytes, images, makes }: Sent): number =>
  Math.ceil(textBytes / BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE + (makes?.sent ?? 0) * TOKENS_PER_EDITED_IMAGE;

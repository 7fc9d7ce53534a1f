/** Why a picture was not taken. `slow` is the parent's word: the process was ended. */
export const FAULTS = ['format', 'animated', 'too_large', 'too_small', 'damaged', 'slow'] as const;
export type Fault = (typeof FAULTS)[number];
/** What the decoding process says of the bytes it was sent. */
export type Answer = { webp: Uint8Array } | { fault: Fault };

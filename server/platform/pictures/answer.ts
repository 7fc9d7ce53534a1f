/** Why a picture was not taken. `slow` is the parent's word: the process was ended. */
export type Fault = 'format' | 'animated' | 'too_large' | 'too_small' | 'damaged' | 'slow';
/** What the decoding process says of the bytes it was sent. */
export type Answer = { webp: Uint8Array } | { fault: Fault };

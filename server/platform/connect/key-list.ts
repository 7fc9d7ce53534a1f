/** Keys that an issuer may publish at once: each is copied, compared and imported. */
export const MOST_KEYS = 200;

/** Whether these are the `keys` of a JSON Web Key Set (RFC 7517 §5.1) that may be used. */
export const isKeyList = (keys: unknown): keys is unknown[] => Array.isArray(keys) && keys.length <= MOST_KEYS;

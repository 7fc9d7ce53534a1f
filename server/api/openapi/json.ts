/** A JSON object of the description. */
export type Json = Record<string, unknown>;

/** From a procedure to the names of its fields that hold secrets. */
export type SecretFields = Readonly<Record<string, readonly string[]>>;

// The browser masks what it shows by the rule that the server masks by. Apart from the wire's schema: every page records its calls.
export { MASK, masked } from '#server/kernel/sanitise.ts';

/** The rule of interface rule 13 §6.3: what carries a credential is not written down again. Takes the name in any case. */
export const carriesCredential = (name: string): boolean =>
  /^(?:authorization|proxy-authorization|cookie|apikey)$|(?:-|^)(?:key|token|secret|auth|signature|password)$/.test(name.toLowerCase());

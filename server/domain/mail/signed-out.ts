/** What ended with a change of how a person signs in. */
export type EndedLogins = { sessions: number; apps: number };

/** The same as a sentence for mails and pages. */
export const signedOut = ({ sessions, apps }: EndedLogins): string =>
  `${sessions === 1 ? '1 session was' : `${sessions} sessions were`} ended and ${apps === 1 ? '1 connected app was' : `${apps} connected apps were`} signed out.`;

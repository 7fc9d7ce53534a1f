import type { Letter } from '#server/domain/mail/templates.ts';

export const chainFailed = (facts: { workspace: string; url: string }): Letter => ({
  subject: `The critical audit chain of ${facts.workspace} failed verification`,
  paragraphs: [
    `Entries of the critical audit chain of ${facts.workspace}, or what protects them, were altered or removed in the database. The service signs the chain no more until the operator of this installation has looked into it.`,
    'Download the chain, compare it with an earlier export, and contact the operator. New entries are still recorded.',
  ],
  button: { label: 'Open the critical chain', url: facts.url },
});

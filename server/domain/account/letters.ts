import type { Letter } from '#server/domain/mail/templates.ts';

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

export const workspaceDeleted = (facts: { workspace: string; by: string; erased: Date; restoreUrl: string }): Letter => ({
  subject: `${facts.workspace} was deleted`,
  paragraphs: [
    `${facts.by} deleted the workspace. Its routes, keys and dashboard stopped working at once.`,
    `Until ${dayOf(facts.erased)}, any Owner can restore it with everything in it. After that its encryption keys are destroyed and nobody can bring it back, backups included.`,
  ],
  button: { label: 'Restore the workspace', url: facts.restoreUrl },
});

export const workspaceRestored = (facts: { workspace: string; by: string; url: string }): Letter => ({
  subject: `${facts.workspace} was restored`,
  paragraphs: [`${facts.by} took the deletion back. Everything works as before, keys included.`],
  button: { label: 'Open the workspace', url: facts.url },
});

export const workspaceErased = (facts: { workspace: string }): Letter => ({
  subject: `${facts.workspace} was erased`,
  paragraphs: [
    'The 14 days after its deletion are over. The encryption keys of the workspace were destroyed, and with them every secret it held, also in backups.',
    'Its rows are being removed. Only the tamper-evident audit chain is kept.',
  ],
});

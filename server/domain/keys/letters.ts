import type { Letter } from '#server/domain/mail/templates.ts';

export const kmsOnboarded = (facts: { workspace: string; by: string; provider: string; key: string; url: string }): Letter => ({
  subject: `${facts.workspace} now uses your own KMS`,
  paragraphs: [
    `${facts.by} put the encryption key of ${facts.workspace} under ${facts.provider}: ${facts.key}.`,
    'If you disable that key or remove its grant, the workspace is sealed within minutes: calls that need a secret are refused until access is restored. If you did not expect this, check who has the Owner and Admin roles.',
  ],
  button: { label: 'Open Tenant KMS', url: facts.url },
});

export const tenantSealed = (facts: { workspace: string; error: string; since: Date; url: string }): Letter => ({
  subject: `${facts.workspace} is sealed`,
  paragraphs: [
    `Since ${facts.since.toISOString().slice(0, 16).replace('T', ' ')} UTC the KMS of ${facts.workspace} doesn't give its encryption key: ${facts.error}.`,
    'Calls that need a secret are refused with 503 tenant_sealed. Nothing is lost. The workspace unseals by itself soon after the key can be used again.',
  ],
  button: { label: 'See what is wrong', url: facts.url },
});

export const tenantUnsealed = (facts: { workspace: string; url: string }): Letter => ({
  subject: `${facts.workspace} is unsealed`,
  paragraphs: ['Its KMS gives the encryption key again. Secrets can be used as before.'],
  button: { label: 'Open Tenant KMS', url: facts.url },
});

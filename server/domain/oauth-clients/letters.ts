import { type Letter, minuteOf } from '#server/domain/mail/templates.ts';

export type ClientNews = { name: string; client_id: string; workspace: string; space: string; by: string; ip: string | null; at: Date };

export const oauthClientCreated = (news: ClientNews, clientUrl: string): Letter => ({
  subject: `New OAuth client in ${news.workspace}`,
  paragraphs: [
    `The OAuth client "${news.name}" was created in your workspace ${news.workspace} by a machine credential, not by a person.`,
    ...factsOf(news),
    'If you expected this, no action is required. If not, revoke this client and the credential that created it.',
  ],
  button: { label: 'View the client', url: clientUrl },
});

export const oauthClientRotated = (news: ClientNews & { worksUntil: Date | null }, clientUrl: string): Letter => ({
  subject: `An OAuth client in ${news.workspace} has a new secret`,
  paragraphs: [
    news.worksUntil
      ? `The secret of the OAuth client "${news.name}" was rotated. The old secret works until ${minuteOf(news.worksUntil)}.`
      : `The secret of the OAuth client "${news.name}" was rotated. The old secret no longer works, and its tokens were revoked.`,
    ...factsOf(news),
    "If this wasn't you or a colleague, revoke the client.",
  ],
  button: { label: 'View the client', url: clientUrl },
});

const factsOf = (news: ClientNews): string[] => [
  `Client: ${news.client_id} (${news.space === 'live' ? 'Live' : 'Test'})`,
  `By: ${news.by}`,
  `Time: ${minuteOf(news.at)}`,
  `IP address: ${news.ip ?? 'unknown'}`,
];

import type { Letter } from '#server/domain/mail/service.ts';

type Paused = { workspace: string; stream: string; error: string; since: Date; url: string };

/** To Owners and Admins when a destination took nothing for seven days. Names were typed by people and stand in quotes. */
export const streamPaused = ({ workspace, stream, error, since, url }: Paused): Letter => ({
  subject: `A log stream in ${workspace} was paused`,
  paragraphs: [
    `The log stream "${stream}" was paused: its destination has accepted nothing since ${since.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    `Last error: ${error}`,
    'Nothing is lost while the logs are kept. Correct the destination, then turn the stream on: it continues where it stopped.',
  ],
  button: { label: 'View log streams', url },
});

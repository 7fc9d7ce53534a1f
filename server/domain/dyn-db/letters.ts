import { type Letter, named } from '#server/domain/mail/templates.ts';

type Facts = {
  username: string;
  connection_name: string;
  what: 'renew' | 'revoke';
  error: string;
  workspace: string;
  space: 'live' | 'test';
};

/** To the Owners: five attempts at a lease failed. */
export const leaseErrored = ({ username, connection_name, what, error, workspace, space }: Facts, url: string): Letter => ({
  subject:
    what === 'revoke'
      ? `The database user ${username} could not be removed`
      : `The lease of the database user ${username} could not be renewed`,
  paragraphs: [
    `${what === 'revoke' ? 'Removing' : 'Renewing'} ${username} on ${connection_name} failed five times in a row. It belongs to ${space === 'live' ? 'Live' : 'Test'} of ${named(workspace)}.`,
    `The last error was: ${error}`,
    what === 'revoke'
      ? 'We try again every hour. Until then the user may still exist. Check the connection, or drop the user by hand.'
      : 'The user keeps its current end. Check the connection, then renew it again.',
  ],
  button: { label: 'View database credentials', url },
});

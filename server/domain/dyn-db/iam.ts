import type { ConnectionRow } from './store.ts';

export const iamToken = async (_connection: ConnectionRow): Promise<string> => {
  throw new Error('not yet');
};

import { isOutage } from '../kernel/errors.ts';
import { log } from './log.ts';

/**
 * Writes a note that nothing depends on, such as when something was last used. Reading makes such notes too, and goes on while the database takes none:
 * a session or a key then looks as unused as it was before. @throws what is no outage
 */
export async function noteAside(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isOutage(error)) throw error;
    log.warn({ err: error }, 'the time of last use was not noted');
  }
}

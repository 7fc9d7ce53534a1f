import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../server/platform/env.ts';
import { squareOf } from '../../server/platform/pictures/decoder.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

export function nodeVersion(): Finding {
  const { node } = process.versions;
  return Number(node.split('.')[0]) >= 24
    ? ok(`${node} (${process.platform}-${process.arch})`)
    : bad(`${node} is too old`, 'Run: npm run doctor');
}

/** The disks of the folders that grow, each once. */
export function disks(env: Env): Finding[] {
  const folders = { DATA_DIR: env.DATA_DIR, LOG_SPILL_DIR: env.LOG_SPILL_DIR };
  const seen = new Set<number>();
  return Object.entries(folders).flatMap(([setting, folder]) => {
    const there = nearest(folder);
    const unusable = unusableReason(there);
    if (unusable)
      return [bad(`${setting} ${folder} can't be used: ${unusable}`, `Set ${setting} to a folder that this user may write to.`)];
    const { dev } = fs.statSync(there);
    if (seen.has(dev)) return [];
    seen.add(dev);
    return [diskOf(setting, folder, fs.statfsSync(there), stopping(setting, env, fs.statSync(nearest(env.LOG_SPILL_DIR)).dev === dev))];
  });
}

/** What stops for want of room on the disk of a folder. */
function stopping(setting: string, { DATABASE_URL }: Env, hasJournal: boolean): string {
  const postgres = setting === 'DATA_DIR' && DATABASE_URL === undefined ? ['PostgreSQL'] : [];
  const own = setting === 'DATA_DIR' ? ["the gateway's copy of its configuration"] : [];
  return [...postgres, ...own, ...(hasJournal ? ['the request-log journal'] : [])].join(' and ');
}

type Room = { bavail: number; bsize: number; blocks: number; ffree: number; files: number };

/** `stops` is what can't go on without room. `files` is 0 where a file system has no table of files that could be full. */
export function diskOf(setting: string, folder: string, { bavail, bsize, blocks, ffree, files }: Room, stops: string): Finding {
  if (blocks === 0) return bad(`${setting} ${folder} is not on a disk`, `Set ${setting} to a folder on a disk.`);
  const free = (bavail * bsize) / 2 ** 30;
  const says = `${free.toFixed(1)} GB free for ${setting} ${folder}`;
  if (free < 0.5) return bad(says, `When the disk is full, these stop: ${stops}. Free space now.`);
  if (files > 0 && ffree < 10_000)
    return bad(
      `${says}, but only ${ffree} more files`,
      'The disk takes no file when its inodes are used up. Delete files you do not need.',
    );
  return free < 5 ? warn(says, 'Request logs grow. Free space or shorten their retention.') : ok(says);
}

/** Tried and not done: doctor changes nothing. */
function unusableReason(folder: string): string | undefined {
  if (!fs.statSync(folder).isDirectory()) return `${folder} is not a folder`;
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    return undefined;
  } catch {
    return `${folder} can't be written to`;
  }
}

function nearest(folder: string): string {
  return fs.existsSync(folder) ? folder : nearest(path.dirname(folder));
}

/** One pixel is too small for a photo, which only a decoder that runs can say. */
export async function pictures(): Promise<Finding> {
  const dot = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWNgYGAAAAAEAAGjChXjAAAAAElFTkSuQmCC',
    'base64',
  );
  const answer = await squareOf(dot, 'doctor').catch(() => undefined);
  return answer && 'fault' in answer && answer.fault === 'too_small'
    ? ok('photos and logos are decoded in a separate process')
    : warn(`photos and logos can't be uploaded: sharp doesn't run on ${process.platform}-${process.arch}`, 'Everything else works.');
}

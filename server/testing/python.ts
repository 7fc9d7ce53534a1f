import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A machine without a package index must not wait for it. */
const QUICKLY = ['--disable-pip-version-check', '--retries', '1', '--timeout', '10'];

/**
 * The path of a Python with `packages` (`name==version`), made once per machine: programs of other authors that judge ours. Throws without Python or without
 * a package index, and the test is skipped with that reason.
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  const folder = path.join(tmpdir(), `sallyport-${packages[0]?.replace('==', '-')}`);
  const interpreter = path.join(folder, 'bin', 'python');
  if (await exists(interpreter)) return interpreter;
  const made = `${folder}-${process.pid}`;
  await mkdir(made, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', made]);
    await run(path.join(made, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...QUICKLY, ...packages], { timeout: 240_000 });
    await rename(made, folder).catch(() => undefined);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return interpreter;
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

import { spawn } from 'node:child_process';

/** Opens an address in the browser of this desktop; false when there is none. The address is an argument, never a text for a shell. */
export function openBrowser(url: string): boolean {
  const { platform, env } = process;
  if (platform !== 'darwin' && platform !== 'win32' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false;
  const [command, ...args] =
    platform === 'darwin' ? ['open', url] : platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler', url] : ['xdg-open', url];
  const child = spawn(command as string, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
  return true;
}

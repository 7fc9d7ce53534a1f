const PROGRAMS: [RegExp, string][] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** "Firefox on macOS" from a User-Agent; what is not recognised is shown as it came. The order matters: most browsers claim to be others. */
export function deviceOf(userAgent: string | null): string {
  if (!userAgent) return 'Unknown device';
  const program = PROGRAMS.find(([shape]) => shape.test(userAgent))?.[1];
  const system = SYSTEMS.find(([shape]) => shape.test(userAgent))?.[1];
  if (!program) return userAgent.slice(0, 80);
  return system ? `${program} on ${system}` : program;
}

/** Whether a user agent is that of a phone. */
export const isPhone = (userAgent: string | null): boolean => /iPhone|Android.*Mobile/.test(userAgent ?? '');

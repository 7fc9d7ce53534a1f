type Sessions = { sessions?: { current: boolean; ip: string | null }[] };

/** The address the session plane last saw this browser with; undefined when it is not known. */
export async function currentAddress(): Promise<string | undefined> {
  const response = await fetch('/auth/sessions', { headers: { accept: 'application/json' } }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const { sessions } = (await response.json()) as Sessions;
  return sessions?.find((session) => session.current)?.ip ?? undefined;
}

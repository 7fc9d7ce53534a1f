import { fetchWithStepUp } from '#components/step-up/with-step-up.ts';
import { notifyFailed } from '#components/ui/toaster.tsx';

type Refused = { message?: string; request_id?: string };

/** Fetches an export and hands it to the browser as a file; a refusal is told. Rejects when there is no answer. */
export async function saveExport(path: string, headers: Record<string, string>): Promise<void> {
  const response = await fetchWithStepUp(path, { headers });
  if (!response.ok) {
    const refused = (await response.json().catch(() => ({}))) as Refused;
    notifyFailed(refused.message ?? 'The export failed. Try again.', refused.request_id);
    return;
  }
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? path.split('?')[0]?.split('/').at(-1) ?? 'export';
  link.click();
  URL.revokeObjectURL(url);
}

'use client';

import { useState } from 'react';
import { notifyFailed } from '#components/ui/toaster.tsx';
import { useScope } from './provider.tsx';

type Refused = { message?: string; request_id?: string };

/**
 * Saves an export of the dashboard plane as a file. A plain link would not carry the workspace and the space, and would show a refusal as a page.
 */
export function useDownload(): { busy: boolean; save: (path: string) => Promise<void> } {
  const { slug, space } = useScope();
  const [busy, setBusy] = useState(false);
  const save = async (path: string) => {
    setBusy(true);
    try {
      const response = await fetch(path, { headers: { 'x-svc-space': space, 'x-tenant-id': slug } });
      if (!response.ok) {
        const refused = (await response.json().catch(() => ({}))) as Refused;
        notifyFailed(refused.message ?? 'The export failed. Try again.', refused.request_id);
        return;
      }
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement('a');
      link.href = url;
      link.download =
        /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ??
        path.split('?')[0]?.split('/').at(-1) ??
        'export';
      link.click();
      URL.revokeObjectURL(url);
    } catch {
      notifyFailed('Sallyport did not answer. Check your connection and try again.');
    } finally {
      setBusy(false);
    }
  };
  return { busy, save };
}

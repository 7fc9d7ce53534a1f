'use client';

import { useState } from 'react';
import { notifyFailed } from '#components/ui/toaster.tsx';
import { useScope } from './provider.tsx';

/**
 * Saves an export of the dashboard plane as a file. A plain link would not carry the workspace and the space, and would show a refusal as a page.
 */
export function useDownload(): { busy: boolean; save: (path: string) => Promise<void> } {
  const { slug, space } = useScope();
  const [busy, setBusy] = useState(false);
  const save = async (path: string) => {
    setBusy(true);
    try {
      const { saveExport } = await import('./save-export.ts');
      await saveExport(path, { 'x-svc-space': space, 'x-tenant-id': slug });
    } catch {
      notifyFailed('Sallyport didn’t respond. Check your connection and try again.');
    } finally {
      setBusy(false);
    }
  };
  return { busy, save };
}

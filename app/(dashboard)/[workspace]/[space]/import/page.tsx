import type { Metadata } from 'next';
import { ImportView } from '#components/import/import-view.tsx';

export const metadata: Metadata = { title: 'Import' };

export default function ImportPage() {
  return <ImportView />;
}

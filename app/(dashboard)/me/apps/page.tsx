import type { Metadata } from 'next';
import { AppsView } from '#components/me/apps-view.tsx';

export const metadata: Metadata = { title: 'Connected apps' };

export default function ConnectedAppsPage() {
  return <AppsView />;
}

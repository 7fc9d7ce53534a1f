import type { ReactNode } from 'react';
import { DashboardFrame } from '../../frame.tsx';

/** Settings belong to the workspace, not to a space; what they read and write is stamped Live. */
export default async function SettingsLayout({ children, params }: { children: ReactNode; params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <DashboardFrame slug={workspace} space="live" partitioned={false}>
      {children}
    </DashboardFrame>
  );
}

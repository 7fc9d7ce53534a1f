import type { ReactNode } from 'react';
import { DashboardFrame } from '../frame.tsx';

export default function PersonLayout({ children }: { children: ReactNode }) {
  return (
    <DashboardFrame slug={null} space="live" partitioned={false}>
      {children}
    </DashboardFrame>
  );
}

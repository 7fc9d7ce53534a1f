import type { Metadata } from 'next';
import { ProfileView } from '#components/me/profile-view.tsx';

export const metadata: Metadata = { title: 'Profile' };

export default function ProfilePage() {
  return <ProfileView />;
}

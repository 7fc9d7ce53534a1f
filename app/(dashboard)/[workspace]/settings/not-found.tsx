import { Missing } from '../../missing.tsx';

export default function NotFound() {
  return <Missing />;
}

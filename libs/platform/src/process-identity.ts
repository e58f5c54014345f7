import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What tells this process from a later one that got the same pid. Undefined: no such process runs (a zombie does not). */
export function startOfProcess(pid: number): string | undefined {
  return process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
}

/** Clock ticks since the boot, and which boot. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${startedAt}`;
  } catch {
    return undefined;
  }
}

function startByPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const [state, ...start] = (stdout ?? '').trim().split(/\s+/);
  return !state || state.startsWith('Z') ? undefined : start.join(' ');
}

// Owns the text of the user service and the user timer (curator notes 15). Pure; knows no file. The schedule has been checked before.
import { execStart, quoteAssignment } from './quote-systemd.ts';
import type { TimerSpec } from './timer-spec.ts';

export interface SystemdUnits {
  readonly service: string;
  readonly timer: string;
}

/** Exit code 3: a gate kept everything back, which is no fault of the unit. */
const GATES_ARE_FINE = 'SuccessExitStatus=3';

/** Throws TalariaError `timer-text` when a word cannot stand in a unit. */
export function systemdUnits(spec: TimerSpec, calendar: string): SystemdUnits {
  const assignments = Object.entries(spec.env).map(([name, value]) => `Environment=${quoteAssignment(name, value)}`);
  return {
    service: unit(
      ['[Unit]', 'Description=Talaria curator: one unattended run'],
      [
        '[Service]',
        'Type=oneshot',
        ...assignments,
        GATES_ARE_FINE,
        `ExecStart=${execStart([...spec.program, ...spec.args])}`,
      ],
    ),
    timer: unit(
      ['[Unit]', 'Description=Talaria curator: when the unattended run is due'],
      ['[Timer]', `OnCalendar=${calendar}`, 'Persistent=true'],
      ['[Install]', 'WantedBy=timers.target'],
    ),
  };
}

function unit(...sections: readonly (readonly string[])[]): string {
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** A lesson above the answer: its question, its task, and the check of the task. */
import { useState } from "preact/hooks";
import { changedKeys, lessonOf, satisfied, type Condition } from "../lessons/lesson";
import { active } from "../state/laboratory";
import { tile } from "./tiles";

function words(condition: Condition): string {
  const of = tile(condition.measure);
  const bound = condition.at_most ?? condition.at_least ?? 0;
  return `${of.label} ${condition.at_most === undefined ? "at least" : "at most"} ${of.format(bound)}`;
}

function Check({ done, children }: { done: boolean; children: preact.ComponentChildren }) {
  return <li class={done ? "done" : "open"}>{done ? "✓" : "✗"} {children}</li>;
}

/** Show the lesson of the scenario, if a lesson opened it. */
export function LessonPanel() {
  const [answer, setAnswer] = useState(false);
  const arm = active.value;
  const name = arm.origin.value;
  const lesson = lessonOf(name);
  const [now] = arm.replicated.value;
  if (!lesson) return null;
  const changed = changedKeys(lesson, arm.written.value);
  const solved = now !== undefined && changed.length === 0 && lesson.conditions.every((one) => satisfied(one, now));
  return (
    <section class={`lesson ${solved ? "solved" : ""}`} aria-label="Lesson">
      <h2>{lesson.title}</h2>
      <p class="question">{lesson.question}</p>
      <ul class="look">{lesson.look.map((line) => <li key={line}>{line}</li>)}</ul>
      <p><b>Task.</b> {lesson.task}</p>
      <ul class="checks" aria-live="polite">
        {now && lesson.conditions.map((one) => (
          <Check key={one.measure} done={satisfied(one, now)}>{words(one)}: now {tile(one.measure).format(now[one.measure])}</Check>
        ))}
        {changed.length > 0 && <Check done={false}>the task does not allow other values of {changed.join(", ")}</Check>}
      </ul>
      <p>
        {solved && <strong class="solution">Solved. </strong>}
        <button type="button" onClick={() => { setAnswer(false); void arm.openNamed(name); }}>Start again</button>{" "}
        <button type="button" onClick={() => { setAnswer(true); void arm.openNamed(name, lesson.answer); }}>Show an answer</button>
      </p>
      {(solved || answer) && <p>{lesson.why}</p>}
    </section>
  );
}

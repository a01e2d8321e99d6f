// Eight scenes: predict first, then watch. `holds` says from the computed result whether what the scene teaches is so; a
// test runs it for every scene, and the page says so where it is not.
const LESSONS = [
  {
    title: "Why margins grow", about: "after everything is classified right",
    link: "points=1,0.4,+;0.5,1.2,+;-0.9,0.3,-;-0.6,-1,-&scale=0.1&width=12",
    question: "All four points are on the right side and the loss is nearly zero. What does gradient flow do with the normalised margin from then on?",
    options: ["It stays as it is", "It goes on growing, to a limit", "It shrinks again"], right: 1,
    reveal: (r) => `The loss never reaches zero, so the flow goes on: the norm grows without end and the direction turns until the smallest margin, divided by |θ|², is ${shown(r.flow.limit.margin, 8)}. That is a KKT point of the max-margin problem.`,
    holds: (r) => r.flow.limit.status === "converged" && r.firstMargin > 0 && r.flow.limit.margin > r.firstMargin,
  },
  {
    title: "Alignment", about: "directions first, sizes later",
    link: "data=gen:planar&scale=1e-20&width=30",
    question: "All 30 neurons start with weights of size 1e−20. What happens first?",
    options: ["They grow, then turn", "They turn, then grow", "Both at the same pace"], right: 1,
    reveal: (r) => `They turn. When the last direction has crossed its last hyperplane, at ${timeText(Math.log(r.flow.phases.t_align))}, the norm of all weights is still ${shown(Math.exp(r.normAtAlign), 2)}; only at ${timeText(Math.log(r.flow.phases.t_fit))} the network says anything. The smaller the start, the cleaner the two phases come apart.`,
    holds: (r) => r.flow.phases.t_align < r.flow.phases.t_fit && r.normAtAlign < Math.log(1e-6),
  },
  {
    title: "A neuron that dies", about: "no sample sees it any more",
    link: "data=gen:DS-WP1&scale=1e-6&width=20",
    question: "Some neurons turn towards the wrong side. What becomes of a positive neuron that comes to see only negative samples?",
    options: ["It turns until it sees nothing, and stays for ever", "It changes its sign", "It comes back later"], right: 0,
    reveal: (r) => `It is pushed away from the samples it sees until it sees none; then its gradient is zero. ${r.flow.limit.dead.length} of ${r.flow.width} neurons end like that (dashed circles). Since a² − |w|² is conserved on balanced starts, no neuron can change its sign.`,
    holds: (r) => r.flow.limit.dead.length > 0,
  },
  {
    title: "Sliding", about: "a neuron rides on a hyperplane",
    link: "data=gen:xor&scale=1e-6&width=16",
    question: "A neuron reaches the line where it would stop seeing a sample; on one side it is pushed to the line, and on the other side too. Where does it go?",
    options: ["It bounces to and fro", "It rides along the line", "It stops there"], right: 1,
    reveal: (r) => `It slides: it stays exactly on the hyperplane and moves along it. ${r.flow.events.filter((e) => e.kind === "slide").length} of the events here are the beginnings of slides. An integrator that does not know this chatters between the two sides.`,
    holds: (r) => r.flow.events.some((e) => e.kind === "slide"),
  },
  {
    title: "XOR and four neurons", about: "what width is needed",
    link: "data=gen:xor&scale=1e-6&width=30",
    question: "Thirty neurons learn XOR from a small start. How many different ones are left at the end?",
    options: ["Two", "Four", "All thirty"], right: 1,
    reveal: (r) => `${r.flow.limit.groups.length} groups of equal neurons, one on each diagonal direction; the best network of any width needs ${r.best.width_needed}. The flow finds the best margin, ${shown(r.best.margin, 8)}.`,
    holds: (r) => r.flow.limit.groups.length === 4 && r.best.width_needed === 4 && Math.abs(r.flow.limit.margin / r.best.margin - 1) < 1e-7,
  },
  {
    title: "When the small start is worse", about: "simplicity has a price",
    link: "data=gen:hinted&scale=1e-6&width=20&leak=0.5",
    question: "These data can be separated by one line, and better by a bent one. Where does a very small start go?",
    options: ["To the bent one: the flow maximises the margin", "To the line", "It depends on the seed"], right: 1,
    reveal: (r) => `To the line, with margin ${shown(r.flow.limit.margin, 6)}, though ${shown(r.best.margin, 6)} is possible: the two hints in the middle make all small neurons align with one direction, and they can never part again (Lyu, Li, Wang and Arora). Set the start scale to 1 and look again: the large start does better.`,
    holds: (r) => r.flow.limit.margin < 0.9 * r.best.margin,
  },
  {
    title: "An end on a kink", about: "where Theorem 1 of Wang and Pilanci fails",
    link: "points=1,0,+;1,1,-&scale=1e-6&width=12",
    question: "The theorem says: a small positive neuron turns until it points along the sum of the samples it sees, here (1,0). Does it?",
    options: ["Yes, to (1,0)", "No, it stops on the line of the negative sample", "No, it dies"], right: 1,
    reveal: () => "It goes towards (1,0) and meets the line on which it would begin to see the negative sample at (1,1): from both sides it is pushed there. It ends at (1,−1)/√2, at 45° to what the theorem says. With kinks taken into account (project the sum on the line) the statement is true.",
    holds: (r) => r.flow.events.some((e) => e.kind === "slide") && r.flow.alignment.neurons.some((n) => n.destiny !== "dead" && n.sector[0] === "+" && n.sector[1] === "0"),
  },
  {
    title: "Orthogonally separable data", about: "where theory says it all",
    link: "data=gen:planar&scale=limit&width=20",
    question: "Samples of one class make acute angles, of different classes none. From a start near zero, how good is the network that gradient flow finds?",
    options: ["The best there is", "Close to it, not quite", "Nobody knows"], right: 0,
    reveal: (r) => `The best: margin ${shown(r.flow.limit.margin, 8)}, and no network of any width has more (proved, gap ${shown(r.best.gap, 2)}). Phuong and Lampert's theorem names the limit: one direction for each class, its own max-margin vector.`,
    holds: (r) => r.best.status === "optimal" && Math.abs(r.flow.limit.margin / r.best.margin - 1) < 1e-7 && r.flow.limit.groups.length === 2,
  },
];

function lessonsDialog(app) {
  openDialog(html("h2", {}, "Lessons"), html("p", { class: "note" }, "Predict, then watch."), html("div", { class: "lessons" }, ...LESSONS.map((lesson, k) =>
    html("button", { onclick: () => { $("dialog").close(); startLesson(app, k); }, "data-lesson": k }, html("b", {}, `${k + 1}. ${lesson.title}`), html("small", {}, lesson.about)))));
}
// What a lesson may look at.
function lessonFacts(app) {
  const { film, timeline } = app, first = timeline.margins.find((m) => m > 0), at = timeline.places.align === null ? null : film.at(timeline.places.align);
  return { flow: film.flow, best: app.best, firstMargin: first === undefined ? NaN : first, normAtAlign: at ? at.logNorm : NaN };
}
// Until the answer is given nothing on the page tells it: limit, optimum, charts, words and time wait.
const HIDDEN = ["verdict", "charts", "words", "time"];
function predicting(on) {
  document.body.classList.toggle("predicting", on);
  for (const id of HIDDEN) $(id).inert = on;
}
function endLesson(app) {
  $("lesson").hidden = true;
  app.lesson = null;
  predicting(false);
}
async function startLesson(app, k) {
  const lesson = LESSONS[k], box = $("lesson");
  app.timeline.stop();
  app.lesson = k;
  predicting(true);
  box.hidden = false;
  box.replaceChildren(html("p", { class: "note" }, "…"));
  await app.open(lesson.link, 0);
  if (app.lesson !== k) return;
  const answer = html("p", { id: "lesson-answer", style: "margin-top:10px" });
  const choices = lesson.options.map((text, i) => html("button", { "data-choice": i, onclick: (event) => {
    predicting(false);
    choices.forEach((b, j) => { b.disabled = true; b.classList.add(j === lesson.right ? "right" : "wrong"); });
    const facts = lessonFacts(app);
    answer.textContent = (i === lesson.right ? "Right. " : "Not so. ") + (lesson.holds(facts) ? lesson.reveal(facts) : "This time the run does not show it: " + app.film.flow.limit.status + ".");
    event.target.setAttribute("aria-pressed", "true");
    app.timeline.play();
  } }, text));
  const step = (j, name) => html("button", { class: "plain", onclick: () => startLesson(app, j) }, name);
  box.replaceChildren(html("div", { class: "head" }, html("h2", {}, `Lesson ${k + 1} of ${LESSONS.length}: ${lesson.title}`), ...(k > 0 ? [step(k - 1, "Back")] : []), ...(k + 1 < LESSONS.length ? [step(k + 1, "Next")] : []),
    html("button", { class: "plain", id: "end-lesson", onclick: () => endLesson(app) }, "End")),
    html("p", {}, lesson.question), html("div", { class: "row" }, ...choices), answer);
  box.scrollIntoView({ block: "nearest" });
}
